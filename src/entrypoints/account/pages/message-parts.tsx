import type { ComponentChildren, VNode } from 'preact';

/** The element that a tag of a message becomes. */
type Part = (children: ComponentChildren[]) => VNode;

/** For screen readers only. */
export const hidden: Part = (children) => <span class="visually-hidden">{children}</span>;

export const strong: Part = (children) => <strong>{children}</strong>;

export const linkTo =
  (href: string): Part =>
  (children) => <a href={href}>{children}</a>;
