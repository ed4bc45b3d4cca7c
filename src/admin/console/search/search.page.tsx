import type { ConsolePage } from '../pages/console-layout.js';
import type { HitsOfKind } from './console-search.service.js';

/** What was found, kind by kind. */
export const searchPage = (wanted: string, found: HitsOfKind[]): ConsolePage => ({
  title: 'Search',
  wanted,
  children: (
    <>
      {found.length === 0 && (
        <p class="empty">
          {wanted === ''
            ? 'Search for an ID of any kind, also of a request; an email address, a name, or part of an endpoint’s URL.'
            : 'Nothing was found. Of requests, the refused ones are kept for seven days, others only in part.'}
        </p>
      )}
      {found.map(({ kind, hits, rest }) => (
        <>
          <h2>{kind}</h2>
          <ul class="hits">
            {hits.map(({ label, detail, href }) => (
              <li>
                <a href={href}>
                  <bdi>{label}</bdi>
                </a>
                {detail && (
                  <span class="under muted whole">
                    <bdi>{detail}</bdi>
                  </span>
                )}
              </li>
            ))}
          </ul>
          {rest && (
            <p>
              <a href={rest}>All {kind.toLowerCase()}</a>
            </p>
          )}
        </>
      ))}
    </>
  ),
});
