import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { datesBy } from '../../language/formats.js';
import { LanguageContext } from '../layout/say.js';

const inWords = datesBy({ dateStyle: 'long', timeStyle: 'short' });
const exactly = datesBy({ dateStyle: 'medium', timeStyle: 'medium' });

/** A point in time in words, in UTC and labelled so: without a script, a page cannot know the reader's time zone. */
export function Moment({ at }: { at: Date }): VNode {
  const language = useContext(LanguageContext);
  return <time dateTime={at.toISOString()}>{`${inWords(language, at)} UTC`}</time>;
}

/** The same with seconds, for frequent events. */
export function ExactMoment({ at }: { at: Date }): VNode {
  const language = useContext(LanguageContext);
  return <time dateTime={at.toISOString()}>{`${exactly(language, at)} UTC`}</time>;
}
