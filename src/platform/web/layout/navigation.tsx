import { createContext, type VNode, h } from 'preact';
import { useContext } from 'preact/hooks';
import { ICON_SHAPES } from './icon-shapes.js';

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

declare const ADDED: unique symbol;

/** A part that a feature added. */
export type AddedPart = string & { readonly [ADDED]: true };

/** The parts of an area in their groups. A feature adds its own where it is loaded. */
export class AreaParts {
  readonly groups: { heading: string; links: AreaLink[] }[];

  constructor(groups: readonly NavigationGroup[]) {
    this.groups = groups.map(({ heading, links }) => ({ heading, links: [...links] }));
  }

  /** Adds a part to a group, behind another one, and returns its name. */
  add(heading: string, link: AreaLink, behind: string): AddedPart {
    const { links } = this.groups.find((group) => group.heading === heading)!;
    const before = links.findIndex(({ part }) => part === behind);
    links.splice(before < 0 ? links.length : before + 1, 0, link);
    return link.part as AddedPart;
  }
}

/** How many of a part wait or fail, and the word for that. */
export interface Count {
  number: number;
  word: string;
}

export type Counts = Partial<Record<string, Count>>;

export interface NavigationProps {
  class: 'area-nav' | 'sub-nav' | 'side-nav';
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

/** The groups that the reader folded up before, by their first parts. */
export const FoldedGroups = createContext<readonly string[]>([]);

/**
 * Links to the many parts of an area, in groups that fold: beside the page, or behind “Menu” where there is no room. The group of the
 * page is open; a script notes which of the others are not.
 */
export function SideNavigation({ label, groups, current, counts = {} }: SideNavigationProps): VNode {
  const folded = useContext(FoldedGroups);
  return (
    <details class="menu">
      <summary>Menu</summary>
      <nav class="side-nav" aria-label={label}>
        {groups
          .filter(({ links }) => links.length > 0)
          .map(({ heading, links }, n) => {
            const key = links[0]!.part;
            const isOpen = !folded.includes(key) || links.some(({ part }) => part === current);
            const inGroup = links.flatMap(({ part }) => counts[part] ?? []);
            return (
              <details class="nav-group" open={isOpen} data-group={key}>
                <summary>
                  <span id={`nav-${n}`}>{heading}</span>
                  {inGroup.map((count) => (
                    <CountBadge count={count} class="count-folded" />
                  ))}
                </summary>
                <ul role="list" aria-labelledby={`nav-${n}`}>
                  {links.map((link) => (
                    <li>
                      <a href={link.href} aria-keyshortcuts={link.key} {...currentIf(link.part === current)}>
                        <Icon name={link.icon} />
                        {link.label}
                      </a>
                      <CountBadge count={counts[link.part]} />
                    </li>
                  ))}
                </ul>
              </details>
            );
          })}
      </nav>
    </details>
  );
}

/** How many wait or fail; nothing for none. */
export function CountBadge({
  count,
  class: className = 'count',
}: {
  count: Count | undefined;
  class?: 'count' | 'count-folded';
}): VNode | null {
  if (!count || count.number === 0) return null;
  return (
    <span class={className}>
      {count.number} {count.word}
    </span>
  );
}

const currentIf = (isCurrent: boolean) => (isCurrent ? { 'aria-current': 'page' as const } : {});

type IconName = keyof typeof ICON_SHAPES;

/** An icon in the colour of the text. Decorative: words always stand next to it. */
const Icon = ({ name }: { name: IconName }): VNode => (
  <svg
    class="icon"
    viewBox="0 0 24 24"
    width="20"
    height="20"
    fill="none"
    stroke="currentcolor"
    stroke-width="1.75"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    {ICON_SHAPES[name].map(([tag, attributes]) => h(tag, attributes))}
  </svg>
);
