import { wordsOf } from './words-of-names.js';

/** How the page shows a member: as text, words of ours, a number, a time, a list of texts, or members with their names. */
export type ShownValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | OwnWords
  | readonly (string | OwnWords)[]
  | Members;

/** Words of ours: a message, which the page says in the language of the reader, or English text. */
export class OwnWords {
  constructor(readonly text: string) {}
}

/** A name of ours as words: the message if drivers meet it, otherwise in English, such as “Client created” for `client.created`. */
export function inWords(name: string): OwnWords {
  const text = name.replace(/[._]/g, ' ');
  return new OwnWords(wordsOf(name) ?? text.charAt(0).toUpperCase() + text.slice(1));
}

/** Members of something, each with its name in words. */
export class Members {
  constructor(readonly all: readonly [name: OwnWords, value: ShownValue][]) {}
}

const ID = /^id$|_id$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/;

/** The data of an event in words. Ids say nothing to people: they are in the file. */
export const inMembers = (data: object): Members =>
  new Members(
    Object.entries(data)
      .filter(([name]) => !ID.test(name))
      .map(([name, value]) => [nameOf(name), valueOf(name, value)]),
  );

const nameOf = (name: string): OwnWords => {
  const words = wordsOf(`data.${name}`);
  return words === undefined ? inWords(name) : new OwnWords(words);
};

function valueOf(name: string, value: unknown): ShownValue {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value !== 'string') return value === null ? null : JSON.stringify(value);
  const words = wordsOf(`data.${name}.${value}`);
  if (words !== undefined) return new OwnWords(words);
  return TIME.test(value) ? new Date(value) : value;
}
