import { Form } from '#platform/http/forms/form.js';
import type { PageRequest } from '#platform/database/queries/read-page.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import type { DeliveryFilter } from '#events/webhooks/deliveries/delivery-filter.js';
import { DELIVERY_STATES, type DeliveryState } from '#events/webhooks/deliveries/delivery.js';
import { readUtcRange } from '#platform/web/forms/utc-time.js';

/** The values of the filter fields, as sent. */
interface FilterInput {
  state: string;
  endpoint: string;
  type: string;
  from: string;
  to: string;
  recovery: string;
}

type FilterErrors = Partial<Record<keyof FilterInput, string>>;

/** The query of the list of deliveries: the filter as typed, its meaning, and its errors. */
export interface DeliveryQuery {
  input: FilterInput;
  filter: DeliveryFilter;
  errors: FilterErrors;
  page: PageRequest;
  /** The filter as a query string, without the page. */
  search: string;
  /** Filter and page as a query string: the current place in the list. */
  place: string;
}

const FIELDS = ['state', 'endpoint', 'type', 'from', 'to', 'recovery'] as const;
const PAGE_FIELDS = ['page_after', 'page_before'] as const;

/** Parses the query; throws a 400 problem for an invalid page or a malformed query. */
export function readDeliveryQuery(queryString: string): DeliveryQuery {
  const query = Form.parse(queryString);
  const given = FIELDS.map((name) => [name, query.get(name)?.trim() ?? ''] as const);
  const input = Object.fromEntries(given) as unknown as FilterInput;
  const { from, to, errors: ofTimes } = readUtcRange(input);
  const filter: DeliveryFilter = {
    state: isState(input.state) ? input.state : undefined,
    endpointId: isId('endp', input.endpoint) ? input.endpoint : undefined,
    eventType: input.type || undefined,
    from,
    to,
    recoveryId: isId('rcvr', input.recovery) ? input.recovery : undefined,
  };
  const isWrong = (name: keyof FilterInput, value: unknown) => input[name] !== '' && value === undefined;
  const errors: FilterErrors = {
    ...(isWrong('state', filter.state) ? { state: 'Choose one of these states.' } : {}),
    ...(isWrong('endpoint', filter.endpointId) ? { endpoint: 'Choose one of your endpoints.' } : {}),
    ...(input.type.length > 64 ? { type: 'Choose one of these event types.' } : {}),
    ...ofTimes,
    ...(isWrong('recovery', filter.recoveryId) ? { recovery: 'This is not the ID of a recovery.' } : {}),
  };
  const search = new URLSearchParams(given.filter(([, value]) => value !== '').map(([...pair]) => pair));
  return {
    input,
    filter,
    errors,
    page: pageOf(query),
    search: search.toString(),
    place: placeIn(query),
  };
}

/** The place in the list, as passed on by the pages of its deliveries; other parameters are dropped. */
export const placeInList = (queryString: string): string => placeIn(Form.parse(queryString));

function placeIn(query: Form): string {
  const given = [...FIELDS, ...PAGE_FIELDS].map((name) => [name, query.get(name)] as const);
  const known = given.filter((pair): pair is [(typeof pair)[0], string] => pair[1] !== undefined);
  return new URLSearchParams(known.map(([...pair]) => pair)).toString();
}

/** A path with its query, if there is one. */
export const withQuery = (path: string, query: string): string => (query ? `${path}?${query}` : path);

function pageOf(query: Form): PageRequest {
  const [page_after, page_before] = PAGE_FIELDS.map((name) => {
    const id = query.get(name);
    if (id !== undefined && !isId('dlvr', id)) throw badRequest(`${name} must be the id of a delivery.`);
    return id;
  });
  return pageRequestOf({ page_after, page_before });
}

const isState = (text: string): text is DeliveryState =>
  (DELIVERY_STATES as readonly string[]).includes(text);
