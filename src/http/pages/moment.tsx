import type { VNode } from 'preact';

const WORDS = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });

/** A point in time in words. In UTC and saying so: without a script a page cannot know where its reader is. */
export function Moment({ at }: { at: Date }): VNode {
  return <time dateTime={at.toISOString()}>{`${WORDS.format(at)} UTC`}</time>;
}

/** The same to the second, for what happens often. */
export function ExactMoment({ at }: { at: Date }): VNode {
  return <time dateTime={at.toISOString()}>{`${EXACT.format(at)} UTC`}</time>;
}
