import type { VNode } from 'preact';
import type { Page } from '#platform/database/queries/read-page.js';
import { ListFilter } from '#platform/web/forms/form.js';
import { ReadyFilters } from '#platform/web/tables/ready-filters.js';
import { PagedTable } from '#platform/web/tables/table.js';
import type { ClientRequestEntity } from './client-request.entity.js';
import { STATUS_FILTERS, type RequestListQuery } from './request-filter.js';
import { requestColumns } from './request-table.js';

const PAGE_SIZE = 50;

export interface RequestListProps {
  /** Path of the list. */
  path: string;
  query: RequestListQuery;
  /** All that match, newest first. */
  requests: ClientRequestEntity[];
  /** The page that explains a request. */
  pathOf: (requestId: string) => string;
}

/** A list of requests with its filter, page by page. */
export function RequestList({
  path,
  query: { typed, after, before },
  requests,
  pathOf,
}: RequestListProps): VNode {
  const search = new URLSearchParams(Object.entries(typed).filter(([, value]) => value !== '')).toString();
  return (
    <>
      <ReadyFilters
        path={path}
        filter={typed}
        filters={[
          { label: 'Refused', set: { status: '4xx' } },
          { label: 'Failed here', set: { status: '5xx' } },
        ]}
      />
      <ListFilter
        path={path}
        values={typed}
        fields={[
          { name: 'status', label: 'Status', options: STATUS_FILTERS },
          { name: 'request_id', label: 'Request ID', spellcheck: false },
        ]}
      />
      <PagedTable
        caption="Requests"
        isOneLine
        page={pageOf(requests, after, before)}
        path={search ? `${path}?${search}` : path}
        empty="There are no such requests."
        columns={requestColumns(pathOf)}
      />
    </>
  );
}

/** The first page for a place that is gone. */
function pageOf(
  requests: ClientRequestEntity[],
  after: string | undefined,
  before: string | undefined,
): Page<ClientRequestEntity> {
  const at = requests.findIndex(({ id }) => id === (after ?? before));
  const start = at === -1 ? 0 : after === undefined ? Math.max(0, at - PAGE_SIZE) : at + 1;
  const end = start + PAGE_SIZE;
  return { items: requests.slice(start, end), hasPrevious: start > 0, hasNext: end < requests.length };
}
