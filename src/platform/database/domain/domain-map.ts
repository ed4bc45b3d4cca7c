import type { PLATFORM_QUESTIONS } from './platform-questions.js';
import type { Named, Part, Use } from './named.js';

/**
 * What happens and what is asked, by name. Each file that names something adds it here: `src/access/domain/domain-events.ts` and
 * `domain-questions.ts`, and `platform-questions.ts` for what the platform asks.
 *
 * @public
 */
export interface DomainMaps {
  platformQuestions: typeof PLATFORM_QUESTIONS;
}

type EachMap = DomainMaps[keyof DomainMaps];
type NameIn<Map, U extends Use> = Map extends unknown
  ? { [N in keyof Map]: Map[N] extends Named<Part, U> ? N : never }[keyof Map] & string
  : never;
type PartIn<Map, N extends string> = Map extends { [name in N]: Named<infer P, Use> } ? P : never;

/** The names for this use. */
export type NameOf<U extends Use> = NameIn<EachMap, U>;
/** What each method with this name is. */
export type PartOf<N extends string> = PartIn<EachMap, N>;
/** What is told or asked with it. */
export type Given<N extends string> =
  PartOf<N> extends (...given: infer G extends unknown[]) => unknown ? G : never;
/** What a method with it returns. */
export type Returned<N extends string> = PartOf<N> extends (...given: never[]) => infer R ? R : never;

/** A method that listens or answers, as its decorator says. */
export interface Declared {
  name: string;
  isListener: boolean;
  key: string;
  place: number;
}

const DECLARED = Symbol('listeners and answers');

/** The methods of this class that listen or answer. */
export const declaredBy = (type: object): Declared[] =>
  (Reflect.getOwnMetadata(DECLARED, type) as Declared[] | undefined) ?? [];

type OnMethod<P> = <M extends P>(target: object, key: string, descriptor: TypedPropertyDescriptor<M>) => void;

const declare =
  <P>(given: Omit<Declared, 'key'>): OnMethod<P> =>
  ({ constructor: type }, key) =>
    Reflect.defineMetadata(DECLARED, [...declaredBy(type), { ...given, key }], type);

/**
 * On a method of a provider: it runs whenever this happens, in the transaction of whoever says so, and undoes that if it throws. Several
 * listeners of one event run in the order of their places, which must differ.
 */
export const OnDomainEvent = <N extends NameOf<'event'>>(name: N, place = 0): OnMethod<PartOf<N>> =>
  declare({ name, place, isListener: true });

/** On a method of a provider: it answers this question. */
export const Answers = <N extends NameOf<'all' | 'one'>>(name: N): OnMethod<PartOf<N>> =>
  declare({ name, place: 0, isListener: false });
