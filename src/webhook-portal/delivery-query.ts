import { Form } from '../http/form.js';
import type { PageRequest } from '../http/paging.js';
import { badRequest } from '../http/problem.js';
import { isId } from '../secrets/ids.js';
import type { DeliveryFilter } from '../webhooks/deliveries/deliveries.repository.js';
import { DELIVERY_STATES, type DeliveryState } from '../webhooks/deliveries/delivery.js';
import { parseUtcTime } from './utc-time.js';

const PAGE_SIZE = 25;

/** What stands in the fields of the filter, as it was sent. */
export interface FilterInput {
  state: string;
  endpoint: string;
  type: string;
  from: string;
  to: string;
  recovery: string;
}

export type FilterErrors = Partial<Record<keyof FilterInput, string>>;

/** The query of the list of deliveries: the filter as it was typed, what it means, and what is wrong with it. */
export interface DeliveryQuery {
  input: FilterInput;
  filter: DeliveryFilter;
  errors: FilterErrors;
  page: PageRequest;
  /** The filter again, without the page. */
  search: string;
}

const FIELDS = ['state', 'endpoint', 'type', 'from', 'to', 'recovery'] as const;
const NO_TIME = 'Give a date and a time, such as 2026-01-31T08:00.';

/** Reads the query; throws a 400 problem for a page that is none, or a query that is malformed. */
export function readDeliveryQuery(queryString: string): DeliveryQuery {
  const query = Form.parse(queryString);
  const given = FIELDS.map((name) => [name, query.get(name)?.trim() ?? ''] as const);
  const input = Object.fromEntries(given) as unknown as FilterInput;
  const [from, to] = [input.from, input.to].map((text) => (text === '' ? undefined : parseUtcTime(text)));
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
    ...(isWrong('from', from) ? { from: NO_TIME } : {}),
    ...(isWrong('to', to) ? { to: NO_TIME } : {}),
    ...(from && to && from >= to ? { to: 'This must be later than “From”.' } : {}),
    ...(isWrong('recovery', filter.recoveryId) ? { recovery: 'This is not the id of a recovery.' } : {}),
  };
  const search = new URLSearchParams(given.filter(([, value]) => value !== '').map(([...pair]) => pair));
  return { input, filter, errors, page: pageOf(query), search: search.toString() };
}

function pageOf(query: Form): PageRequest {
  const [after, before] = ['page_after', 'page_before'].map((name) => {
    const id = query.get(name);
    if (id !== undefined && !isId('dlvr', id)) throw badRequest(`${name} must be the id of a delivery.`);
    return id;
  });
  if (after !== undefined && before !== undefined) {
    throw badRequest('Give page_after or page_before, not both.');
  }
  return { size: PAGE_SIZE, after, before };
}

const isState = (text: string): text is DeliveryState =>
  (DELIVERY_STATES as readonly string[]).includes(text);
