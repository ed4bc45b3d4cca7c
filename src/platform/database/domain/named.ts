/** A method that listens or answers. */
export type Part = (...given: never[]) => unknown;

/** An event; a question that any number of methods answer, or exactly one. */
export type Use = 'event' | 'all' | 'one';

/** Something that has a name in a map: what each method with it is, as a type only, and a sentence for docs/architecture.md. */
export interface Named<P extends Part, U extends Use> {
  use: U;
  about: string;
  part?: P;
}

export type NamedMap = Readonly<Record<string, Named<Part, Use>>>;

const named =
  <U extends Use>(use: U) =>
  <P extends Part>(about: string): Named<P, U> => ({ use, about });

/** Something that happens. Any number of methods listen, also none. */
export const event = named('event');
/** A question that any number of methods answer. */
export const askedOfAll = named('all');
/** A question that exactly one method answers: without it the service does not start. */
export const askedOfOne = named('one');
