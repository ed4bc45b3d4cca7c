import type { VNode } from 'preact';
import { Icon, type IconName } from './icon.js';

interface NavigationLink {
  part: string;
  href: string;
  label: string;
}

interface AreaLink extends NavigationLink {
  icon: IconName;
  /** The key that leads there, where scripts run. */
  key?: string;
}

/** Parts that belong together. */
export interface NavigationGroup {
  heading: string;
  links: readonly AreaLink[];
}

/** How many of a part wait or fail, and the word for that. */
export interface Count {
  number: number;
  word: string;
}

export type Counts = Partial<Record<string, Count>>;

export interface NavigationProps {
  class: 'area-nav' | 'sub-nav' | 'guide-links';
  /** For screen readers. */
  label: string;
  links: readonly NavigationLink[];
  /** The part that the page belongs to. */
  current?: string;
}

/** Links to the parts of an area, or to the pages about one thing. */
export const Navigation = ({ class: className, label, links, current }: NavigationProps): VNode => (
  <nav class={className} aria-label={label}>
    {/* Safari drops list semantics from lists without markers unless the role is given. */}
    <ul role="list">
      {links.map(({ part, href, label: text }) => (
        <li>
          <a href={href} {...currentIf(part === current)}>
            {text}
          </a>
        </li>
      ))}
    </ul>
  </nav>
);

export interface SideNavigationProps {
  label: string;
  groups: readonly NavigationGroup[];
  current?: string;
  counts?: Counts;
}

/** Links to the many parts of an area, in groups with headings: beside the page, or behind “Menu” where there is no room. */
export const SideNavigation = ({ label, groups, current, counts = {} }: SideNavigationProps): VNode => (
  <details class="menu">
    <summary>Menu</summary>
    <nav class="side-nav" aria-label={label}>
      {groups.map(({ heading, links }, n) => (
        <div>
          <p class="nav-heading" id={`nav-${n}`}>
            {heading}
          </p>
          <ul role="list" aria-labelledby={`nav-${n}`}>
            {links.map(({ part, href, label: text, key, icon }) => (
              <li>
                <a href={href} aria-keyshortcuts={key} {...currentIf(part === current)}>
                  <Icon name={icon} />
                  {text}
                </a>
                <CountBadge count={counts[part]} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  </details>
);

/** How many wait or fail; nothing for none. */
export function CountBadge({ count }: { count: Count | undefined }): VNode | null {
  if (!count || count.number === 0) return null;
  return (
    <span class="count">
      {count.number}
      <span class="visually-hidden"> {count.word}</span>
    </span>
  );
}

const currentIf = (isCurrent: boolean) => (isCurrent ? { 'aria-current': 'page' as const } : {});
