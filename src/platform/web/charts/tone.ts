/** What a series means, which the style sheet has a colour for. */
export type Tone = 'good' | 'bad' | 'line' | 'slow';

export const colourOf = (tone: Tone): string => `var(--chart-${tone})`;
