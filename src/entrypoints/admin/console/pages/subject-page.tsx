import { Navigation } from '#platform/web/layout/navigation.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import type { ConsolePage } from './console-layout.js';

/** A kind of resource with several pages each, such as clients. */
export interface Subject {
  part: NonNullable<ConsolePage['part']>;
  /** The path of their list. */
  list: { href: string; label: string };
  name: string;
  /** Its environment; a sandbox is shown with the name. */
  environment?: 'live' | 'sandbox';
  path: string;
  /** The pages of this resource. */
  links: { part: string; href: string; label: string }[];
}

export interface SubjectPage extends Omit<ConsolePage, 'title' | 'part' | 'above'> {
  title?: string;
  /** The current one of its links; undefined for a page without a link. */
  current?: string;
}

/** A page about one resource: its name, and links to its other pages. */
export const subjectPage = (
  { part, list, name, environment, path, links }: Subject,
  { title, current, children, ...page }: SubjectPage,
): ConsolePage => ({
  ...page,
  part,
  title: title ?? name,
  above: title === undefined ? [list] : [list, { href: path, label: name }],
  children: (
    <>
      {environment === 'sandbox' && (
        <p>
          <SandboxBadge of={{ environment }} />
        </p>
      )}
      {current !== undefined && (
        <Navigation class="sub-nav" label={`About ${name}`} links={links} current={current} />
      )}
      {children}
    </>
  ),
});
