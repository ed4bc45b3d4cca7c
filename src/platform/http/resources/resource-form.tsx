import { isDeepStrictEqual } from 'node:util';
import type { VNode } from 'preact';
import { Choices, SelectField, TextArea, TextField, Tick } from '#platform/web/forms/field.js';
import type { Form } from '../forms/form.js';
import { FORM_KINDS, type FormField, type FormKind, type FormKinds } from './form-field.js';
import { pairs, type Fields, type ListedField, type Name, type Resource } from './resource.js';
import { asShownIn, shownValues } from './shown-values.js';

type Asked<F> = { [K in keyof F]: F[K] extends { form: FormField } ? K : never }[keyof F];

/** What the form of a resource holds, by wire name. */
export type FormValues<F> = {
  [K in Asked<F> as Name<F, K>]: F[K] extends { form: { as: infer A extends keyof FormKinds } }
    ? FormKinds[A]
    : never;
};

interface AskedField extends ListedField {
  form: FormField;
  kind: FormKind<unknown>;
}

/** The fields of a resource in forms: their values and how they are shown. */
export class ResourceForm<E extends object, F extends Fields<E>> {
  private readonly asked: AskedField[];

  constructor(resource: Resource<E, F>) {
    this.asked = resource.list.flatMap((field) =>
      field.form
        ? [{ ...field, form: field.form, kind: FORM_KINDS[field.form.as] as FormKind<unknown> }]
        : [],
    );
  }

  empty(): FormValues<F> {
    return pairs(this.asked, ({ wire, kind, initial }) => [wire, kind.of(initial)]);
  }

  of(entity: Pick<E, Asked<F> & keyof E>): FormValues<F> {
    return pairs(this.asked, ({ key, wire, kind }) => [
      wire,
      kind.of((entity as Record<string, unknown>)[key]),
    ]);
  }

  in(form: Form): FormValues<F> {
    return pairs(this.asked, ({ wire, kind }) => [wire, kind.in(form, wire)]);
  }

  /** The hidden field of a form that shows these values. */
  shown(values: FormValues<F>): Record<string, string> {
    return shownValues(pairs(this.asked, ({ wire, kind }) => [wire, savedOf(kind, valueIn(values, wire))]));
  }

  /**
   * The present values, with what the person has changed in the form: what others have saved since it was shown stays as it is. Throws a
   * 400 problem without the hidden field.
   */
  changedIn(form: Form, present: FormValues<F>): FormValues<F> {
    const isAsShown = asShownIn(form);
    return pairs(this.asked, ({ wire, kind }) => {
      const typed = kind.in(form, wire);
      return [wire, isAsShown(wire, savedOf(kind, typed)) ? valueIn(present, wire) : typed];
    });
  }

  /** The members of a body that creates one, before its rules are checked. */
  newMembers(values: FormValues<F>): Record<string, unknown> {
    return this.members(values, ({ given }) => given !== undefined);
  }

  /** The members of a body that changes one; those that differ from the present values, if these are given. */
  changedMembers(values: FormValues<F>, present?: FormValues<F>): Record<string, unknown> {
    const isSame = ({ wire, kind }: AskedField) =>
      present !== undefined &&
      isDeepStrictEqual(savedOf(kind, valueIn(values, wire)), savedOf(kind, valueIn(present, wire)));
    return this.members(values, (field) => field.changeable === true && !isSame(field));
  }

  /** The wire names of those that can be changed. */
  get changeable(): (keyof FormValues<F>)[] {
    const names = this.asked.filter(({ changeable }) => changeable).map(({ wire }) => wire);
    return names as string[] as (keyof FormValues<F>)[];
  }

  /** The fields with these names; `options`: choices that only the page knows. */
  show(names: (keyof FormValues<F>)[], options: Record<string, FormField['options']> = {}): VNode {
    const shown = names.map((name) => this.asked.find(({ wire }) => wire === name)!);
    return (
      <>
        {shown.map(({ wire, form }) => shownField(wire, { ...form, options: options[wire] ?? form.options }))}
      </>
    );
  }

  private members(values: object, isMeant: (field: AskedField) => boolean): Record<string, unknown> {
    const typed = values as Record<string, unknown>;
    return pairs(this.asked.filter(isMeant), ({ wire, kind }) => [wire, kind.member(typed[wire])]);
  }
}

const valueIn = (values: object, wire: string): unknown => (values as Record<string, unknown>)[wire];

/** A value as it would be saved, however a browser has sent it. */
function savedOf(kind: FormKind<unknown>, value: unknown): unknown {
  const member = kind.member(value);
  return kind.isSet ? (member as string[]).toSorted() : member;
}

function shownField(name: string, { as, label, hint, options = [], ...input }: FormField): VNode {
  const field = { name, label, hint };
  if (as === 'lines' || as === 'json' || as === 'jsonList') return <TextArea {...field} />;
  if (as === 'tick' || as === 'vouch') return <Tick {...field} />;
  if (as === 'select') return <SelectField {...field} options={[...options]} />;
  if (as === 'choice' || as === 'choices')
    return <Choices {...field} type={as === 'choice' ? 'radio' : 'checkbox'} options={[...options]} />;
  return <TextField {...field} {...input} inputMode={as === 'number' ? 'numeric' : input.inputMode} />;
}
