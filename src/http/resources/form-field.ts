import type { Form } from '../forms/form.js';
import type { Option } from '../../web/forms/field.js';

/** How forms ask for a field. */
export interface FormField {
  readonly as: keyof FormKinds;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'email';
  readonly spellcheck?: false;
  /** Unless the page knows them. */
  readonly options?: readonly (Option & { hint?: string })[];
}

/** What each kind of form field holds. */
export interface FormKinds {
  /** One line; its member has no spaces around it. */
  line: string;
  /** The same, and nothing means null. */
  lineOrNone: string;
  /** The same with spaces around it. */
  text: string;
  /** A whole number, or nothing. */
  number: string;
  /** A list, one per line. */
  lines: string;
  tick: boolean;
  /** To vouch for something: empty at first, and only true is a member. */
  vouch: boolean;
  choice: string;
  /** The same from a long list, where nothing means null. */
  select: string;
  choices: string[];
}

export interface FormKind<T> {
  /** What the form shows for a value. */
  of(value: unknown): T;
  in(form: Form, name: string): T;
  /** The member of a body, to be judged by its rule. */
  member(typed: T): unknown;
}

/** What was typed stays as it is in the form. */
const textKind = (member: (typed: string) => unknown): FormKind<string> => ({
  of: (value) => (value as string | number | null | undefined)?.toString() ?? '',
  in: (form, name) => form.get(name) ?? '',
  member,
});
const numberIn = (text: string): unknown => (/^\d{1,12}$/.test(text) ? Number(text) : text);
export const linesIn = (text: string): string[] =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const isTicked = (form: Form, name: string): boolean => form.get(name) === 'true';

export const FORM_KINDS: { [K in keyof FormKinds]: FormKind<FormKinds[K]> } = {
  line: textKind((typed) => typed.trim()),
  lineOrNone: textKind((typed) => typed.trim() || null),
  text: textKind((typed) => typed),
  number: textKind((typed) => (typed.trim() === '' ? null : numberIn(typed.trim()))),
  choice: textKind((typed) => typed),
  select: textKind((typed) => typed || null),
  lines: { ...textKind(linesIn), of: (value) => ((value ?? []) as string[]).join('\n') },
  tick: { of: (value) => value === true, in: isTicked, member: (typed) => typed },
  vouch: { of: () => false, in: isTicked, member: (typed) => typed || undefined },
  choices: {
    of: (value) => [...((value ?? []) as string[])],
    in: (form, name) => form.getAll(name),
    member: (typed) => typed,
  },
};
