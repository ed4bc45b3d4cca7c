import { FilterForm } from '../../web/forms/form.js';
import { Hits, type HitsOfKind } from '../../web/search/hits.js';
import { SEARCH_PATH, type PortalPage } from '../frame/portal-layout.js';

/** What was found, kind by kind. */
export const searchPage = (wanted: string | undefined, found: HitsOfKind[]): PortalPage => ({
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
            label:
              'The ID of a request, a delivery or an event, or part of an endpoint’s URL or of an email address',
            spellcheck: false,
          },
        ]}
      />
      {found.length === 0 && (
        <p class="empty">
          {wanted === undefined
            ? 'Every response has the ID of its request in X-Request-Id: its page says why the request was refused.'
            : 'Nothing of this client was found. Of requests, the refused ones are kept for seven days, others only in part.'}
        </p>
      )}
      <Hits found={found} />
    </>
  ),
});
