import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Fixed, IsOptionalNotNull, MayBeNull } from '../validation/validation.decorators.js';
import type { FormField } from './form-field.js';

/** One field of a resource. The API with its OpenAPI document, forms, the audit log and company files are derived from it. */
interface Field<V> {
  /** Its name in the API, in audit events and in forms. By default that in the entity. */
  readonly wire?: string;
  /** Its schema in API responses; a field without one is never shown. */
  readonly view?: ApiPropertyOptions;
  /** Its validation rule in request bodies, which also gives its schema there. */
  readonly rule?: PropertyDecorator;
  /** Its description in request bodies. */
  readonly about?: string;
  readonly example?: unknown;
  readonly orNull?: true;
  /** Whether it is required or optional when the resource is created; without this, it is not accepted. */
  readonly given?: 'required' | 'optional';
  /** Its value if it is omitted; also preset in forms. */
  readonly initial?: V;
  /** Whether it can be changed later. A fixed one in a body of changes is refused. */
  readonly changeable?: true;
  /** True, or how audit events show it, or the reason why they do not. */
  readonly audited: true | ((value: V) => unknown) | { readonly not: string };
  readonly form?: FormField;
}

/** For a field that may be omitted from a new one, and can be null. */
export const NULL_IF_OMITTED = { orNull: true, given: 'optional', initial: null } as const;

/** A declaration for every member of the entity: a forgotten one does not compile. */
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
/** The fields of a new resource. */
export type NewOf<E, F extends Fields<E>> = Pick<E, Required<F> & keyof E> &
  Partial<Pick<E, Exclude<Given<F>, Required<F>> & keyof E>>;
/** The changeable fields; omitted ones stay as they are. */
export type ChangesOf<E, F extends Fields<E>> = Partial<Pick<E, Changeable<F> & keyof E>>;
/** The same by wire name, as a body. */
type Body<V, F> = { [K in keyof V as Name<F, K & keyof F>]: V[K] };

type AnyField = Field<never>;
export type ListedField = AnyField & { readonly key: string; readonly wire: string };

/** A resource, as the API, the audit log and forms use it. */
export class Resource<E extends object, F extends Fields<E>> {
  readonly list: readonly ListedField[];

  constructor(
    /** Its name in error texts. */
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

  /** The members of a body under the names of the entity. */
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

  /** The fields of a new resource, including the initial values of omitted ones. */
  complete(input: NewOf<E, F>): Pick<E, Given<F> & keyof E> {
    const given = input as Record<string, unknown>;
    return pairs(this.list, ({ given: isGiven, key, initial }) => {
      const value = given[key] ?? initial;
      return isGiven && value !== undefined ? [key, value] : undefined;
    });
  }

  /** The initial values of optional fields, by wire name. */
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
