import { Search, type HitsOfKind } from '#platform/web/search/hits.js';
import { SEARCH_PATH, type PortalPage } from '../frame/portal-layout.js';

/** The results by kind. */
export const searchPage = (wanted: string | undefined, found: HitsOfKind[]): PortalPage => ({
  title: 'Search',
  part: 'search',
  children: (
    <Search
      path={SEARCH_PATH}
      wanted={wanted}
      found={found}
      label="The ID of a request, a delivery or an event, or part of an endpoint’s URL or of an email address"
      hint="Every response has the ID of its request in X-Request-Id: its page says why the request was refused."
      nothing="Nothing of this client was found."
    />
  ),
});
