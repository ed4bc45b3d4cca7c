import { Navigation } from '../../../web/layout/navigation.js';
import { SandboxBadge } from '../../../web/layout/sandbox-badge.js';
import type { ConsolePage } from './console-layout.js';

/** A kind of things that have several pages each, such as clients. */
export interface Subject {
  part: NonNullable<ConsolePage['part']>;
  /** The list of all of them. */
  list: { href: string; label: string };
  name: string;
  /** Shown with its name if it is in a sandbox. */
  environment?: 'live' | 'sandbox';
  path: string;
  /** The pages about this one. */
  links: { part: string; href: string; label: string }[];
}

export interface SubjectPage extends Omit<ConsolePage, 'title' | 'part' | 'above'> {
  title?: string;
  /** One of its links; undefined for pages that these do not lead to. */
  current?: string;
}

/** A page about one thing: its name, and links to the other pages about it. */
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
