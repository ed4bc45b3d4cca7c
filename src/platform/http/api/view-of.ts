import type { Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;
type Wire<V> = V extends Date ? string : V;

/** The schema of a member that has the same name in the source, in camel case; for any other member, also how it is read. */
type Member<S> = ApiPropertyOptions | readonly [schema: ApiPropertyOptions, read: (source: S) => unknown];
/** Members without a counterpart of the same name in the source. */
type Unread<S, M> = {
  [K in keyof M]: M[K] extends readonly unknown[] ? never : Camel<K & string> extends keyof S ? never : K;
}[keyof M];
type Shown<S, M> = {
  [K in keyof M]: Wire<
    M[K] extends readonly [unknown, (source: never) => infer V] ? V : S[Camel<K & string> & keyof S]
  >;
};

/** A view class: it describes what the API shows of a source, and creates it. */
type ViewClass<S, V> = Type<V> & { of: (source: S) => V };

/** Defines the view of a source: each member once, with its schema. Times become ISO 8601. */
export const viewOf =
  <S extends object>() =>
  <M extends Record<string, Member<S>>>(
    members: M,
  ): [Unread<S, M>] extends [never] ? ViewClass<S, Shown<S, M>> : Unread<S, M> => {
    const read = Object.entries<Member<S>>(members).map(([name, member]) => {
      const [schema, of] = Array.isArray(member)
        ? (member as [ApiPropertyOptions, (source: S) => unknown])
        : [];
      const key = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
      return {
        name,
        schema: schema ?? (member as ApiPropertyOptions),
        of: of ?? ((source: S) => (source as Record<string, unknown>)[key]),
      };
    });
    class View {
      static readonly of = (source: S) =>
        Object.fromEntries(
          read.map(({ name, of }) => {
            const value = of(source);
            return [name, value instanceof Date ? value.toISOString() : value];
          }),
        );
    }
    for (const { name, schema } of read) ApiProperty(schema)(View.prototype, name);
    return View as never;
  };
