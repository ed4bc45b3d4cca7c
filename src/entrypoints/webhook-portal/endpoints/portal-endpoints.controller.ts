import { Param } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { Form } from '#platform/http/forms/form.js';
import { FormIds } from '#platform/http/forms/form-ids.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ONCE_FIELD } from '#platform/web/forms/form.js';
import { Problem } from '#platform/http/problems/problem.js';
import { newId } from '#platform/secrets/ids.js';
import { batchErrors, batchIn } from '#events/webhooks/batches/batch-fields.js';
import {
  conditionsOf,
  EMPTY_ENDPOINT,
  endpointFieldsChangedIn,
  endpointFieldsIn,
  endpointFieldsOf,
  type EndpointFormValues,
} from '#events/webhooks/endpoints/endpoint-form.js';
import type { EndpointChanges } from '#events/webhooks/endpoints/endpoint.resource.js';
import { headersInLines, limitIn } from '#events/webhooks/endpoints/endpoint-headers.js';
import { EndpointAddresses } from '#events/webhooks/endpoints/endpoint-addresses.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { credentialLabel, credentialsIn } from '#events/webhooks/receiver-tokens/credential-fields.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { membersOf } from '#events/webhooks/filters/event-members.js';
import { FilterPreviews } from '#events/webhooks/filters/filter-preview.service.js';
import { filterViolations } from '#events/webhooks/filters/filter-rules.js';
import { conditionsIn, rowErrors } from '#events/webhooks/filters/typed-conditions.js';
import { inOrder, type SignatureVersion } from '#events/webhooks/signing/sign-delivery.js';
import { endpointFormPage, type EndpointFormPageProps } from './endpoint-form.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';
import { apiWords, type Violation, type Violations } from '#platform/http/problems/violation.js';
import type { Environment } from '#access/users/accounts/environment.js';
import { endpointPath } from './about-endpoint.js';

const NEW_PATH = '/portal/endpoints/new';

/** The forms for adding and editing endpoints (contract §11.1). */
@PortalPages()
export class PortalEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly addresses: EndpointAddresses,
    private readonly eventTypes: EventTypesService,
    private readonly previews: FilterPreviews,
    private readonly formIds: FormIds,
  ) {}

  @PortalGet('endpoints/new', 'developer')
  showNew(@Context() context: PortalContext): Promise<PortalAnswer> {
    const once = this.formIds.make('endp', context.clientId, NEW_PATH);
    return this.form(context, { once, input: EMPTY_ENDPOINT, errors: {} });
  }

  /** Adds it, once, and redirects to its page; errors are shown at the fields. */
  @PortalPost('endpoints/new', 'nothing', 'developer')
  async create(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { clientId } = context;
    const form = await this.formOf(context);
    const once = form.get(ONCE_FIELD);
    if (isTried(form)) return this.try(context, { once, input: endpointFieldsIn(form) });
    // A program may post the form without this field.
    const id = once === undefined ? newId('endp') : this.formIds.read(form, 'endp', clientId, NEW_PATH);
    try {
      const input = inputOf(endpointFieldsIn(form));
      await this.endpoints.createOnce(id, clientId, input, context.actor);
      return { goTo: endpointPath(id), notice: 'endpoint_added' };
    } catch (error) {
      return this.form(context, { once, input: endpointFieldsIn(form), ...refusalOf(error) });
    }
  }

  @PortalGet('endpoints/:id/edit', 'developer')
  async showEdit(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    return this.form(context, { endpoint, input: endpointFieldsOf(endpoint), errors: {} });
  }

  /** Saves all fields that were changed, or none. */
  @PortalPost('endpoints/:id/edit', 'an endpoint', 'developer')
  async update(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    const form = await this.formOf(context);
    const input = endpointFieldsChangedIn(form, endpoint);
    if (isTried(form)) return this.try(context, { endpoint, input });
    try {
      const changes = changesOf(input, endpointFieldsOf(endpoint));
      await this.endpoints.update(id, context.clientId, changes, context.actor);
      return { goTo: endpointPath(id), notice: 'endpoint_saved' };
    } catch (error) {
      return this.form(context, { endpoint, input, ...refusalOf(error) });
    }
  }

  /** The form with its rows of conditions as the member `filters`. */
  private async formOf({ form, visitor }: PortalContext): Promise<Form> {
    const members = membersOf(await this.eventTypes.listFor(visitor.scopes));
    const filters = new URLSearchParams({ filters: JSON.stringify(conditionsIn(form, members)) });
    return Form.parse(`${filters.toString()}&${form.source}`);
  }

  /** The form again with what its filters would do, or with their errors; nothing is saved. */
  private async try(
    context: PortalContext,
    shown: Pick<EndpointFormPageProps, 'endpoint' | 'once' | 'input'>,
  ): Promise<PortalAnswer> {
    const { scopes } = context.visitor;
    const conditions = conditionsOf(shown.input);
    const receivable = await this.eventTypes.listFor(scopes);
    const chosen = receivable.filter(({ name }) => shown.input.event_types.includes(name));
    const types = chosen.length > 0 ? chosen : receivable;
    const violations = filterViolations(conditions, membersOf(types));
    if (Object.keys(violations).length > 0) {
      return this.form(context, { ...shown, errors: rowErrors(violations), status: 400 });
    }
    const names = types.map(({ name }) => name);
    const preview = await this.previews.of({ clientId: context.clientId, scopes }, names, conditions);
    return this.form(context, { ...shown, errors: {}, tried: { conditions, preview } });
  }

  private async form(
    context: PortalContext,
    what: Omit<EndpointFormPageProps, 'eventTypes' | 'members' | 'thisMachine'> & { status?: number },
  ): Promise<PortalAnswer> {
    const { status, ...props } = what;
    const eventTypes = await this.eventTypes.listFor(context.visitor.scopes);
    const thisMachine = this.thisMachineFor(context.client.environment);
    const members = membersOf(eventTypes);
    return { page: endpointFormPage({ ...props, eventTypes, members, thisMachine }), status };
  }

  private thisMachineFor(environment: Environment): EndpointFormPageProps['thisMachine'] {
    if (this.addresses.mayBeOnThisMachine(environment)) return 'allowed';
    return this.addresses.mayBeOnThisMachine('sandbox') ? 'allowed in sandboxes' : 'refused';
  }
}

/** Whether the filters are only to be tried. */
const isTried = (form: Form): boolean => form.get('do') === 'try';

/** Trims pasted spaces, and removes duplicate types; throws a 400 problem for lines that are not headers. */
function inputOf(typed: EndpointFormValues) {
  const limit = typed.max_per_minute.trim();
  return {
    url: typed.url.trim(),
    description: typed.description.trim(),
    eventTypes: [...new Set(typed.event_types)],
    filters: conditionsOf(typed),
    maxPerMinute: limit === '' ? null : limitIn(limit),
    ordered: typed.ordered,
    batch: batchIn(typed),
    signatureVersions: signaturesIn(typed.signature_versions),
    headers: headersInLines(typed.headers),
    authentication: credentialsIn(typed),
  };
}

/** None ticked: by the secret. */
const signaturesIn = (ticked: string[]): SignatureVersion[] => {
  const versions = inOrder(ticked as SignatureVersion[]);
  return versions.length > 0 ? versions : ['v1'];
};

/** What differs from the present values. The rest is neither checked nor written: others may save it at this moment. */
function changesOf(typed: EndpointFormValues, present: EndpointFormValues): EndpointChanges {
  const [input, had] = [inputOf(typed), inputOf(present)];
  const changed = <K extends keyof typeof input>(name: K) =>
    isDeepStrictEqual(input[name], had[name]) ? undefined : input[name];
  return {
    url: changed('url'),
    description: changed('description'),
    eventTypes: changed('eventTypes'),
    filters: changed('filters'),
    maxPerMinute: changed('maxPerMinute'),
    ordered: changed('ordered'),
    batch: changed('batch'),
    signatureVersions: changed('signatureVersions'),
    headers: changed('headers'),
    authentication: changed('authentication'),
  };
}

/** The errors to show at the fields; anything that is not an input error is rethrown. */
function refusalOf(
  error: unknown,
): Pick<EndpointFormPageProps, 'errors' | 'isInternal'> & { status: number } {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 409) return { errors: { form: error.detail }, status: 409 };
  const { violations } = error.extras;
  if (!violations) throw error;
  const { url, description, event_types: types, max_per_minute: limit, headers } = violations;
  return {
    status: 400,
    isInternal: url?.some(({ code }) => INTERNAL.includes(code)),
    errors: {
      ...(url ? { url: `The URL ${together(url)}` } : {}),
      ...(description ? { description: `The description ${together(description)}` } : {}),
      ...(types ? { event_types: typesError(types) } : {}),
      ...(limit ? { max_per_minute: 'Enter a whole number from 1 to 6,000, or nothing.' } : {}),
      ...rowErrors(violations),
      ...batchErrors(violations),
      ...credentialErrors(violations),
      ...(headers ? { headers: `These headers cannot be used: ${together(headers)}` } : {}),
    },
  };
}

/** At the fields of the members of `authentication`. */
const credentialErrors = (violations: Violations): Record<string, string> =>
  Object.fromEntries(
    Object.entries(violations).flatMap(([name, each]) => {
      const label = credentialLabel(name);
      return label === undefined ? [] : [[name, `${label} ${together(each)}`]];
    }),
  );

const INTERNAL: Violation['code'][] = ['internal_address', 'internal_name', 'resolves_to_internal_address'];

const together = (violations: Violation[]): string => [...new Set(violations.map(apiWords))].join(', and ');

const typesError = (violations: Violation[]): string =>
  violations[0]?.code === 'no_event_type'
    ? 'Choose at least one event type.'
    : `These event types cannot be chosen: ${together(violations)}`;
