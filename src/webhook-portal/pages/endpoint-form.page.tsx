import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import type { EventTypeEntity } from '../../webhooks/event-types/event-type.entity.js';
import { FieldNotes, TextField } from '../../http/pages/field.js';
import { ErrorNotice } from '../../http/pages/notices.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';

/** The values of the form, as typed. */
export interface EndpointInput {
  url: string;
  description: string;
  eventTypes: string[];
}

/** What is wrong, by field. */
export type EndpointErrors = Partial<Record<keyof EndpointInput | 'form', string>>;

export interface EndpointFormPageProps {
  layoutProps: PortalLayoutProps;
  csrfToken: string;
  /** The endpoint being edited; undefined for a new one. */
  id?: string;
  input: EndpointInput;
  errors: EndpointErrors;
  /** The types that the client's scopes allow. */
  eventTypes: EventTypeEntity[];
}

/** The form for adding or editing an endpoint. It posts `url`, `description` and `event_types` to its own URL. */
export function endpointFormPage(props: EndpointFormPageProps): string {
  const { layoutProps, csrfToken, id, input, errors, eventTypes } = props;
  const back = id === undefined ? '/portal' : `/portal/endpoints/${id}`;
  return renderPortalPage({
    layoutProps,
    title: id === undefined ? 'Add endpoint' : 'Edit endpoint',
    part: 'endpoints',
    above: { href: back, label: id === undefined ? 'Endpoints' : 'Endpoint' },
    children: (
      <>
        {Object.keys(errors).length > 0 && (
          <ErrorNotice>{errors.form ?? 'Nothing was saved. See the errors below.'}</ErrorNotice>
        )}
        <form method="post" action={id === undefined ? '/portal/endpoints/new' : `${back}/edit`} novalidate>
          <CsrfField token={csrfToken} />
          <TextField
            id="url"
            name="url"
            type="url"
            label="URL"
            required
            autocomplete="off"
            spellcheck={false}
            value={input.url}
            placeholder="https://"
            hint="We send events to this URL by POST. It must be a public https address."
            error={errors.url}
          />
          <TextField
            id="description"
            name="description"
            label="Description"
            autocomplete="off"
            value={input.description}
            hint="Only for you, for example which system receives the events. Optional."
            error={errors.description}
          />
          <EventTypes eventTypes={eventTypes} chosen={input.eventTypes} error={errors.eventTypes} />
          <div class="actions actions-row">
            <button type="submit">Save</button>
            <a class="button-link quiet" href={back}>
              Cancel
            </a>
          </div>
        </form>
      </>
    ),
  });
}

interface EventTypesProps {
  eventTypes: EventTypeEntity[];
  chosen: string[];
  error?: string;
}

function EventTypes({ eventTypes, chosen, error }: EventTypesProps): VNode {
  const id = 'event-types';
  return (
    <fieldset class="choices" aria-describedby={error ? `${id}-error ${id}-hint` : `${id}-hint`}>
      <legend>Event types</legend>
      <FieldNotes id={id} error={error} hint="The events sent to this endpoint. Choose one or more." />
      {eventTypes.map(({ name, description }) => (
        <div class="choice">
          <input
            type="checkbox"
            id={`type-${name}`}
            name="event_types"
            value={name}
            checked={chosen.includes(name)}
            aria-describedby={`type-${name}-hint`}
            {...(error ? { 'aria-invalid': 'true' as const } : {})}
          />
          <div>
            <label for={`type-${name}`}>{name}</label>
            <small id={`type-${name}-hint`}>{description}</small>
          </div>
        </div>
      ))}
    </fieldset>
  );
}
