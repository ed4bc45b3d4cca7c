import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Fixed, IsOptionalNotNull, MayBeNull } from '../validation/validation.decorators.js';
import type { FormField } from './form-field.js';

/** One field of a resource: every face of the service reads it here. */
interface Field<V> {
  /** Its name in the API, in audit events and in forms. By default that in the entity. */
  readonly wire?: string;
  /** Its schema where the API shows it; one without is never shown. */
  readonly view?: ApiPropertyOptions;
  /** What a body must hold, with its schema. */
  readonly rule?: PropertyDecorator;
  /** Describes it in bodies. */
  readonly about?: string;
  readonly example?: unknown;
  readonly orNull?: true;
  /** Whether it is given when the resource is created. */
  readonly given?: 'required' | 'optional';
  /** What an omitted one becomes; also suggested by forms. */
  readonly initial?: V;
  /** Whether it can be changed later. One that is given and cannot is refused with its reason. */
  readonly changeable?: true;
  /** True, or how audit events show it; otherwise why they do not. */
  readonly audited: true | ((value: V) => unknown) | { readonly not: string };
  readonly form?: FormField;
}

/** For a field that may be omitted from a new one, and can be null. */
export const NULL_IF_OMITTED = { orNull: true, given: 'optional', initial: null } as const;

/** Every field of the entity: one that is forgotten does not compile. */
export type Fields<E> = { readonly [K in keyof E]-?: Field<E[K]> };

export type Name<F, K extends keyof F> = F[K] extends { wire: infer W extends string } ? W : K & string;
type Wire<V> = V extends Date ? string : V;
type With<F, P> = { [K in keyof F]: F[K] extends P ? K : never }[keyof F];
export type ShownKeys<F> = With<F, { view: object }>;
type Given<F> = With<F, { given: string }>;
type Required<F> = With<F, { given: 'required' }>;
type Changeable<F> = With<F, { changeable: true }>;
type Hidden<F> = With<F, { audited: { not: string } }>;

/** An entity as the API shows it. */
export type View<E, F extends Fields<E>> = {
  [K in ShownKeys<F> & keyof E as Name<F, K>]: Wire<E[K]>;
};
/** What a new one is made of. */
export type NewOf<E, F extends Fields<E>> = Pick<E, Required<F> & keyof E> &
  Partial<Pick<E, Exclude<Given<F>, Required<F>> & keyof E>>;
/** What can be changed; what is omitted stays as it is. */
export type ChangesOf<E, F extends Fields<E>> = Partial<Pick<E, Changeable<F> & keyof E>>;
/** The same by wire name, as a body. */
type Body<V, F> = { [K in keyof V as Name<F, K & keyof F>]: V[K] };

type AnyField = Field<never>;
export type ListedField = AnyField & { readonly key: string; readonly wire: string };

/** What the API, the audit log and forms know of a resource. */
export class Resource<E extends object, F extends Fields<E>> {
  readonly list: readonly ListedField[];

  constructor(
    /** As errors call it. */
    private readonly what: string,
    readonly fields: F,
  ) {
    this.list = Object.entries(fields as object as Record<string, AnyField>).map(([key, field]) => ({
      ...field,
      key,
      wire: field.wire ?? key,
    }));
  }

  /** The DTO of a body that creates one. */
  newBody(): Type<Body<NewOf<E, F>, F>> {
    return classWith(
      this.list.flatMap((field) =>
        field.given ? [[field.wire, bodyMember(field, field.given === 'required')] as const] : [],
      ),
    );
  }

  /** The DTO of a body that changes one. */
  changesBody(): Type<Body<ChangesOf<E, F>, F>> {
    return classWith(
      this.list.flatMap((field) => {
        if (field.changeable) return [[field.wire, bodyMember(field, false)] as const];
        return field.given ? [[field.wire, Fixed(this.what)] as const] : [];
      }),
    );
  }

  /** The class that describes what the API shows. */
  viewClass(): Type<View<E, F>> {
    return classWith(
      this.list.flatMap(({ wire, view }) => (view ? [[wire, ApiProperty(view)] as const] : [])),
    );
  }

  /** The keys of what the API shows. */
  get shownKeys(): (ShownKeys<F> & keyof E)[] {
    return this.list.flatMap(({ view, key }) => (view ? [key as ShownKeys<F> & keyof E] : []));
  }

  /** What the API shows of an entity. */
  view(entity: Pick<E, ShownKeys<F> & keyof E>): View<E, F> {
    return pairs(this.list, ({ view, key, wire }) => {
      const value = (entity as Record<string, unknown>)[key];
      return view && [wire, value instanceof Date ? value.toISOString() : value];
    });
  }

  /** A body by the names of the entity. */
  newOf(body: Body<NewOf<E, F>, F>): NewOf<E, F> {
    return this.byKey(body);
  }

  changesOf(body: Body<ChangesOf<E, F>, F>): ChangesOf<E, F> {
    return this.byKey(body);
  }

  /** The view of an entity in audit events. */
  auditView(entity: Omit<E, Hidden<F> & keyof E>): Record<string, unknown> {
    return pairs(this.list, ({ audited, key, wire }) => {
      const value = (entity as Record<string, unknown>)[key] as never;
      if (typeof audited === 'object') return undefined;
      return [wire, audited === true ? value : audited(value)];
    });
  }

  /** A new one with what was omitted. */
  complete(input: NewOf<E, F>): Pick<E, Given<F> & keyof E> {
    const given = input as Record<string, unknown>;
    return pairs(this.list, ({ given: isGiven, key, initial }) => {
      const value = given[key] ?? initial;
      return isGiven && value !== undefined ? [key, value] : undefined;
    });
  }

  /** By wire name: what an omitted one becomes. */
  get defaults(): Record<string, unknown> {
    return pairs(this.list, ({ given, wire, initial }) =>
      given === 'optional' ? [wire, initial] : undefined,
    );
  }

  /** The body that would create an entity. */
  bodyOf(entity: Pick<E, Given<F> & keyof E>): Body<NewOf<E, F>, F> {
    const values = entity as Record<string, unknown>;
    return pairs(this.list, ({ given, key, wire }) => (given ? [wire, values[key]] : undefined));
  }

  private byKey<T>(body: object): T {
    const members = body as Record<string, unknown>;
    return pairs(this.list, ({ key, wire }) =>
      members[wire] === undefined ? undefined : [key, members[wire]],
    );
  }
}

export const resource =
  <E extends object>() =>
  <const F extends Fields<E>>(what: string, fields: F): Resource<E, F> =>
    new Resource<E, F>(what, fields);

/** An object of what a function makes of each; undefined is left out. */
export const pairs = <T, R>(list: readonly T[], pair: (each: T) => [string, unknown] | undefined): R =>
  Object.fromEntries(list.map(pair).filter((each) => each !== undefined)) as R;

function bodyMember({ rule, about, example, orNull }: AnyField, isRequired: boolean): PropertyDecorator {
  const described = {
    ...(about === undefined ? {} : { description: about }),
    ...(example === undefined ? {} : { example }),
  };
  const omitted = orNull ? [MayBeNull()] : isRequired ? [] : [IsOptionalNotNull()];
  return applyDecorators(rule!, ...omitted, ApiProperty(described as ApiPropertyOptions));
}

function classWith<T>(members: (readonly [name: string, PropertyDecorator])[]): Type<T> {
  class Described {}
  for (const [name, decorate] of members) decorate(Described.prototype, name);
  return Described as Type<T>;
}
