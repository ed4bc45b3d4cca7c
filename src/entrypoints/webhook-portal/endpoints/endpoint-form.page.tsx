import type { VNode } from 'preact';
import { Choices, TextArea, Tick, TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { BatchFields, batchIn } from '#events/webhooks/batches/batch-fields.js';
import { HEADERS_HINT } from '#events/webhooks/endpoints/endpoint-headers.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import {
  conditionsOf,
  endpointShown,
  type EndpointFormValues,
} from '#events/webhooks/endpoints/endpoint-form.js';
import { CredentialFields } from '#events/webhooks/receiver-tokens/credential-fields.js';
import type { EventTypeEntity } from '#events/webhooks/event-types/event-type.entity.js';
import type { PortalPage } from '../frame/portal-layout.js';
import type { EventMembers } from '#events/webhooks/filters/event-members.js';
import { rowValues } from '#events/webhooks/filters/typed-conditions.js';
import { SIGNATURE_OPTIONS } from '#events/webhooks/signing/sign-delivery.js';
import { endpointPath } from './about-endpoint.js';
import { FilterFields, FilterPreviewNotice, type TriedFilters } from './filter-fields.js';

const LISTENING = '/docs/guides/webhooks#on-your-own-machine';

export interface EndpointFormPageProps {
  /** The endpoint being edited; undefined for a new one. */
  endpoint?: EndpointEntity;
  /** The id of a new one. */
  once?: string;
  input: EndpointFormValues;
  errors: FieldErrors;
  /** Whether the URL was refused because it is internal. */
  isInternal?: boolean;
  /** Whether the URL may be on the machine of the service. */
  thisMachine: 'allowed' | 'allowed in sandboxes' | 'refused';
  /** The types that the client's scopes allow. */
  eventTypes: EventTypeEntity[];
  /** The members that events of these types have. */
  members: EventMembers;
  /** The filters that were tried. */
  tried?: TriedFilters;
}

/** The form for adding or editing an endpoint. It posts its fields to its own URL. */
export function endpointFormPage({
  endpoint,
  once,
  input,
  errors,
  isInternal,
  thisMachine,
  eventTypes,
  members,
  tried,
}: EndpointFormPageProps): PortalPage {
  const conditions = conditionsOf(input);
  const id = endpoint?.id;
  const back = id === undefined ? '/portal' : endpointPath(id);
  return {
    title: id === undefined ? 'Add endpoint' : 'Edit endpoint',
    part: 'endpoints',
    above: [{ href: back, label: id === undefined ? 'Overview' : 'Endpoint' }],
    children: (
      <>
        {isInternal && <OnYourMachine thisMachine={thisMachine} />}
        {tried && <FilterPreviewNotice {...tried} />}
        <PageForm
          action={id === undefined ? '/portal/endpoints/new' : `${back}/edit`}
          hidden={endpoint && endpointShown(endpoint)}
          once={once}
          values={{ ...input, ...rowValues(conditions, members) }}
          errors={errors}
          alert="Nothing was saved. See the errors below."
          noValidate
          submit="Save"
          cancel={back}
          otherButton={
            <button type="submit" class="quiet" name="do" value="try">
              Try filters
            </button>
          }
        >
          <TextField
            name="url"
            type="url"
            label="URL"
            required
            spellcheck={false}
            placeholder="https://"
            hint={`We send events to this URL by POST. It must be a public https address${
              thisMachine === 'allowed' ? ', or one of this machine, such as http://127.0.0.1:4000/hook' : ''
            }.`}
          />
          <TextField
            name="description"
            label="Description"
            hint="Only for you, for example which system receives the events. Optional."
          />
          <Choices
            name="event_types"
            id="event-types"
            label="Event types"
            hint="The events sent to this endpoint. Choose one or more."
            type="checkbox"
            groupOf={({ value }) => value.split('.')[0]!}
            options={eventTypes.map(({ name, description }) => ({
              value: name,
              label: name,
              hint: description,
            }))}
          />
          <details open={conditions.length > 0 || hasFilterErrors(errors)}>
            <summary>Filters</summary>
            <FilterFields conditions={conditions} members={members} errors={errors} />
          </details>
          <details open={isAdvanced(input, errors)}>
            <summary>Advanced</summary>
            <TextField
              name="max_per_minute"
              id="max-per-minute"
              label="Attempts per minute"
              inputMode="numeric"
              hint="The most requests that we start in a minute, 1 to 6,000; the rest waits. Leave it empty for no limit."
            />
            <Tick
              name="ordered"
              label="One after the other for each user"
              hint="A user’s next event is sent only when the one before it was delivered or has failed for good. So an event that fails holds back the later ones of its user, for days if need be."
            />
            <BatchFields />
            <Choices
              name="signature_versions"
              id="signature-versions"
              label="Signatures"
              hint="With v1a you need no secret of ours: the public key is on the page of the endpoint. None ticked: v1."
              type="checkbox"
              options={SIGNATURE_OPTIONS}
            />
            <TextArea
              name="headers"
              label="Headers"
              hint={`Sent with every request. ${HEADERS_HINT} Optional.`}
              spellcheck={false}
            />
          </details>
          <CredentialFields values={input} errors={errors} hasSecret={!!endpoint?.authentication} />
        </PageForm>
      </>
    ),
  };
}

const hasFilterErrors = (errors: FieldErrors): boolean =>
  Object.keys(errors).some((name) => name.startsWith('filters'));

/** Few need a limit, batches or headers of their own. */
const isAdvanced = (input: EndpointFormValues, errors: FieldErrors): boolean =>
  input.max_per_minute !== '' ||
  input.headers !== '' ||
  input.ordered ||
  batchIn(input) !== null ||
  input.signature_versions.join() !== 'v1' ||
  errors['max_per_minute'] !== undefined ||
  errors['headers'] !== undefined;

/** How to receive events without a public address. */
const OnYourMachine = ({ thisMachine }: Pick<EndpointFormPageProps, 'thisMachine'>): VNode => (
  <p>
    On your own machine, <a href={LISTENING}>receive the events with “charging-data listen”</a>, without an
    endpoint.
    {thisMachine === 'allowed in sandboxes' &&
      ' In this demonstration, endpoints of sandbox clients may be on this machine.'}
  </p>
);
