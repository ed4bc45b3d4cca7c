import type { ComponentChildren, VNode } from 'preact';

/** What a series means, which the style sheet has a colour for. */
export type Tone = 'good' | 'bad' | 'line' | 'slow';

export const colourOf = (tone: Tone): string => `var(--chart-${tone})`;

/** The name of a series in the legend of a chart, after its colour. */
export const LegendEntry = ({
  tone,
  isDashed,
  children,
}: {
  tone: Tone;
  isDashed?: boolean;
  children: ComponentChildren;
}): VNode => (
  <span class="key">
    <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
      {isDashed ? (
        <path d="M0 6h12" stroke={colourOf(tone)} stroke-width="3" stroke-dasharray="5 2" />
      ) : (
        <rect width="12" height="12" rx="3" fill={colourOf(tone)} />
      )}
    </svg>{' '}
    {children}
  </span>
);
