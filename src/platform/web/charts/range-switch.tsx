import type { VNode } from 'preact';
import { RANGES, type Range } from './ranges.js';

export interface RangeSwitchProps {
  /** The path of the page; `?range=` selects the other range. */
  path: string;
  /** Where on the page the links lead. */
  hash?: string | undefined;
  range: Range;
}

/** Links to the page with each of the ranges. */
export const RangeSwitch = ({ path, hash = '', range }: RangeSwitchProps): VNode => (
  <p class="switch">
    {Object.entries(RANGES).map(([each, { words }]) => (
      <a
        href={`${path}${each === '24h' ? '' : `?range=${each}`}${hash}`}
        {...(each === range ? { 'aria-current': 'true' as const } : {})}
      >
        {words}
      </a>
    ))}
  </p>
);
