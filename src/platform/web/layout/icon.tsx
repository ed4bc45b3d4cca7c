import { h, type VNode } from 'preact';
import { ICON_SHAPES } from './icon-shapes.js';

export type IconName = keyof typeof ICON_SHAPES;

/** An icon in the colour of the text. Decorative: words always stand next to it. */
export const Icon = ({ name }: { name: IconName }): VNode => (
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
