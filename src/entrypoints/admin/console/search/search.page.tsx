import { Search, type HitsOfKind } from '#platform/web/search/hits.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { SEARCH_PATH } from '../pages/resource-link.js';

/** The results by kind. */
export const searchPage = (wanted: string | undefined, found: HitsOfKind[]): ConsolePage => ({
  title: 'Search',
  part: 'search',
  children: (
    <Search
      path={SEARCH_PATH}
      wanted={wanted}
      found={found}
      label="An ID of any kind, an email address, a name, or part of an endpoint’s URL"
      hint="Search also for the ID of a request: its page says why it was refused."
      nothing="Nothing was found."
    />
  ),
});
