import type { VNode } from 'preact';

const FORMAT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' });

/** A point in time in words, in UTC and labelled so: without a script, a page cannot know the reader's time zone. */
export function Moment({ at }: { at: Date }): VNode {
  return <time dateTime={at.toISOString()}>{`${FORMAT.format(at)} UTC`}</time>;
}

/** The same with seconds, for frequent events. */
export function ExactMoment({ at }: { at: Date }): VNode {
  return <time dateTime={at.toISOString()}>{`${EXACT.format(at)} UTC`}</time>;
}
