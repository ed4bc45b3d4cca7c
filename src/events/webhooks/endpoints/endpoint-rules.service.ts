import { Injectable } from '@nestjs/common';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import { batchViolations } from '../batches/batch.js';
import { credentialViolations, type ClientCredentials } from '../receiver-tokens/client-credentials.js';
import { EndpointAddresses } from './endpoint-addresses.service.js';
import { headerViolations } from './endpoint-headers.js';
import { DESCRIPTION_MAX, PER_MINUTE_MAX, type EndpointChanges } from './endpoint.resource.js';
import { violation, type Violation, type Violations } from '#platform/http/problems/violation.js';
import type { EventTypeEntity, VersionedEventType } from '../event-types/event-type.entity.js';
import { membersOf } from '../filters/event-members.js';
import { filterViolations } from '../filters/filter-rules.js';
import type { EndpointEntity } from './endpoint.entity.js';

/** The client of an endpoint. */
type EndpointOwner = Pick<ClientEntity, 'scopes' | 'environment'>;

/** The rules for the members of an endpoint (contract §10, §22). */
@Injectable()
export class EndpointRules {
  constructor(
    private readonly eventTypes: EventTypesService,
    private readonly addresses: EndpointAddresses,
  ) {}

  /**
   * The normalized URLs, and the event types that its filters were checked by; throws a 400 problem with `field_errors`. `present`: the
   * endpoint that is changed.
   */
  async check(
    { scopes, environment }: EndpointOwner,
    input: EndpointChanges,
    present?: Filtered,
  ): Promise<CheckedEndpoint> {
    const after = filteredAfter(input, present);
    const credentials = credentialViolations(input.authentication);
    const tokenUrl = credentials['authentication.token_url'] ? undefined : input.authentication?.token_url;
    const [address, tokenAddress, catalogue] = await Promise.all([
      input.url === undefined ? undefined : this.addresses.check(input.url, environment),
      tokenUrl === undefined ? undefined : this.addresses.check(tokenUrl, environment),
      input.eventTypes || after ? this.eventTypes.list() : [],
    ]);
    const types = input.eventTypes ? typeErrors(catalogue, scopes, input.eventTypes) : [];
    const headers = headerViolations(input.headers ?? {});
    const violations = {
      ...(address?.reason === undefined ? {} : { url: [address.reason] }),
      ...descriptionViolations(input.description ?? ''),
      ...(types.length === 0 ? {} : { event_types: types }),
      ...(isLimit(input.maxPerMinute ?? null)
        ? {}
        : { max_per_minute: [violation('whole_number', { min: 1, max: PER_MINUTE_MAX, orNull: true })] }),
      ...(input.signatureVersions?.length === 0
        ? { signature_versions: [violation('signature_versions')] }
        : {}),
      ...(headers.length === 0 ? {} : { headers }),
      ...batchViolations(input.batch),
      ...credentials,
      ...(tokenAddress?.reason === undefined ? {} : { 'authentication.token_url': [tokenAddress.reason] }),
    };
    if (after && types.length === 0) Object.assign(violations, filterErrors(catalogue, after));
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
    return { url: address?.url, tokenUrl: tokenAddress?.url, catalogue };
  }

  /** The same for the filters and types that the endpoint will have, as locked: another change may have come between. */
  checkFilters(catalogue: VersionedEventType[], input: EndpointChanges, present: Filtered): void {
    const after = filteredAfter(input, present);
    const violations = after ? filterErrors(catalogue, after) : {};
    if (Object.keys(violations).length > 0) throw validationFailed(violations);
  }

  /** A header of its own and a token cannot both be what authorizes its requests; throws a 400 problem. */
  checkAuthorization({ headerNames, authentication }: Authorized): void {
    if (authentication && headerNames.includes('authorization')) {
      throw validationFailed({ headers: [violation('header_with_authentication')] });
    }
  }

  /** Checks the types again, and locks their scopes until the endpoint has subscribed. */
  async holdTypes(scopes: string[], names: string[]): Promise<void> {
    const errors = typeErrors(await this.eventTypes.hold(names), scopes, names);
    if (errors.length > 0) throw validationFailed({ event_types: errors });
  }
}

interface CheckedEndpoint {
  url: string | undefined;
  tokenUrl: string | undefined;
  catalogue: VersionedEventType[];
}

interface Authorized {
  headerNames: readonly string[];
  authentication: ClientCredentials | null;
}

type Filtered = Pick<EndpointEntity, 'eventTypes' | 'filters'>;

/** The filters that are to be checked, and the types of their events; undefined if there are none, or nothing of them changes. */
function filteredAfter(
  { eventTypes, filters }: EndpointChanges,
  present: Filtered = { eventTypes: [], filters: [] },
): Filtered | undefined {
  if (eventTypes === undefined && filters === undefined) return undefined;
  const after = { eventTypes: eventTypes ?? present.eventTypes, filters: filters ?? present.filters };
  return after.filters.length > 0 ? after : undefined;
}

const filterErrors = (catalogue: VersionedEventType[], { eventTypes, filters }: Filtered): Violations =>
  filterViolations(filters, membersOf(catalogue.filter(({ name }) => eventTypes.includes(name))));

const isLimit = (limit: number | null): boolean =>
  limit === null || (Number.isInteger(limit) && limit >= 1 && limit <= PER_MINUTE_MAX);

function descriptionViolations(description: string): Violations {
  const tooLong = Array.from(description).length > DESCRIPTION_MAX;
  const found = tooLong ? violation('too_long', { max: DESCRIPTION_MAX }) : illegible(description);
  return found === undefined ? {} : { description: [found] };
}

/** What is wrong with a subscription to these types, for a client with these scopes. */
const typeErrors = (
  known: readonly Pick<EventTypeEntity, 'name' | 'scope'>[],
  scopes: string[],
  names: string[],
): Violation[] => {
  if (names.length === 0) return [violation('no_event_type')];
  return names.flatMap((name, index) => {
    const type = known.find((candidate) => candidate.name === name);
    if (!type) return [violation('unknown_event_type', { place: index + 1 })];
    if (type.scope !== null && !scopes.includes(type.scope)) {
      return [violation('type_needs_scope', { type: type.name, scope: type.scope })];
    }
    return [];
  });
};
