import type { VNode } from 'preact';

interface NavigationLink {
  part: string;
  href: string;
  label: string;
  /** The key that leads there, where scripts run. */
  key?: string;
}

/** Parts that belong together. */
export interface NavigationGroup {
  heading: string;
  links: readonly NavigationLink[];
}

export interface NavigationProps {
  class: 'area-nav' | 'sub-nav' | 'guide-links';
  /** For screen readers. */
  label: string;
  links: readonly NavigationLink[];
  /** The part that the page belongs to. */
  current?: string;
}

/** Links to the parts of an area, or to the pages about one thing. */
export const Navigation = ({ class: className, label, ...list }: NavigationProps): VNode => (
  <nav class={className} aria-label={label}>
    <Links {...list} />
  </nav>
);

export interface GroupedNavigationProps {
  label: string;
  groups: readonly NavigationGroup[];
  current?: string;
}

/** Links to the many parts of an area, in groups with headings. */
export const GroupedNavigation = ({ label, groups, current }: GroupedNavigationProps): VNode => (
  <nav class="area-nav" aria-label={label}>
    <div class="nav-groups">
      {groups.map(({ heading, links }, n) => (
        <div class="nav-group">
          <p class="nav-heading" id={`nav-${n}`}>
            {heading}
          </p>
          <Links links={links} current={current} labelledBy={`nav-${n}`} />
        </div>
      ))}
    </div>
  </nav>
);

type LinksProps = Pick<NavigationProps, 'links' | 'current'> & { labelledBy?: string };

const Links = ({ links, current, labelledBy }: LinksProps): VNode => (
  // Safari drops list semantics from lists without markers unless the role is given.
  <ul role="list" aria-labelledby={labelledBy}>
    {links.map(({ part, href, label, key }) => (
      <li>
        <a
          href={href}
          aria-keyshortcuts={key}
          {...(part === current ? { 'aria-current': 'page' as const } : {})}
        >
          {label}
        </a>
      </li>
    ))}
  </ul>
);
