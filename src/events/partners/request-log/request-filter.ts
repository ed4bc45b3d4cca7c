import type { Form } from '#platform/http/forms/form.js';
import type { RequestFilter } from './client-requests.repository.js';

/** The statuses that lists of requests can be filtered by. */
export const STATUS_FILTERS = [
  { value: '', label: 'All', from: 100, to: 599 },
  { value: '2xx', label: '2xx: served', from: 200, to: 299 },
  { value: '4xx', label: '4xx: refused', from: 400, to: 499 },
  { value: '400', label: '400: malformed or invalid', from: 400, to: 400 },
  { value: '401', label: '401: not authenticated', from: 401, to: 401 },
  { value: '403', label: '403: not allowed', from: 403, to: 403 },
  { value: '404', label: '404: not found', from: 404, to: 404 },
  { value: '429', label: '429: too many', from: 429, to: 429 },
  { value: '5xx', label: '5xx: failed here', from: 500, to: 599 },
];

// An id that the service did not make has at most 128 characters (contract §1).
const REQUEST_ID_MAX = 128;

/** The query of a list of requests: the filter as typed, what it means, and the place in the list. */
export interface RequestListQuery {
  typed: { status: string; request_id: string };
  filter: RequestFilter;
  after?: string;
  before?: string;
}

/** What the query asks for; what nobody offered is left out. */
export function requestListQuery(query: Form): RequestListQuery {
  const status = query.get('status');
  const chosen = STATUS_FILTERS.find(({ value }) => value === status) ?? STATUS_FILTERS[0]!;
  const id =
    query
      .get('request_id')
      ?.trim()
      .slice(0, REQUEST_ID_MAX + 1) ?? '';
  return {
    typed: { status: chosen.value, request_id: id },
    filter: {
      ...(chosen.value === '' ? {} : { status: chosen }),
      ...(id === '' ? {} : { requestId: id }),
    },
    after: query.get('page_after'),
    before: query.get('page_before'),
  };
}
