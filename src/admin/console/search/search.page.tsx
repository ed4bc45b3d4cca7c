import { FilterForm } from '../../../web/forms/form.js';
import { Hits, type HitsOfKind } from '../../../web/search/hits.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { SEARCH_PATH } from './explanation-path.js';

/** What was found, kind by kind. */
export const searchPage = (wanted: string | undefined, found: HitsOfKind[]): ConsolePage => ({
  title: 'Search',
  part: 'search',
  children: (
    <>
      <FilterForm
        path={SEARCH_PATH}
        values={{ q: wanted ?? '' }}
        submit="Search"
        fields={[
          {
            name: 'q',
            label: 'An ID of any kind, an email address, a name, or part of an endpoint’s URL',
            spellcheck: false,
          },
        ]}
      />
      {found.length === 0 && (
        <p class="empty">
          {wanted === undefined
            ? 'Search also for the ID of a request: its page says why it was refused.'
            : 'Nothing was found. Of requests, the refused ones are kept for seven days, others only in part.'}
        </p>
      )}
      <Hits found={found} />
    </>
  ),
});
