import type { VNode } from 'preact';

export interface NavigationProps {
  class: 'area-nav' | 'sub-nav' | 'guide-links';
  /** For screen readers. */
  label: string;
  links: readonly { part: string; href: string; label: string }[];
  /** The part that the page belongs to. */
  current?: string;
}

/** Links to the parts of an area, or to the pages about one thing. */
export function Navigation({ class: className, label, links, current }: NavigationProps): VNode {
  return (
    <nav class={className} aria-label={label}>
      {/* Safari drops list semantics from lists without markers unless the role is given. */}
      <ul role="list">
        {links.map(({ part, href, label: text }) => (
          <li>
            <a href={href} {...(part === current ? { 'aria-current': 'page' as const } : {})}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
