export const SEARCH_PATH = '/admin/console/search';

/** The page that explains the requests with this id. */
export const explanationPath = (requestId: string): string =>
  `/admin/console/requests/${encodeURIComponent(requestId)}`;
