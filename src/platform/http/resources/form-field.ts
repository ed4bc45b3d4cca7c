import type { Form } from '../forms/form.js';
import type { Option } from '#platform/web/forms/field.js';

/** How forms show a field. */
export interface FormField {
  readonly as: keyof FormKinds;
  readonly label: string;
  readonly hint?: string;
  readonly inputMode?: 'email';
  readonly spellcheck?: false;
  /** Omitted if the page that shows the form provides them. */
  readonly options?: readonly (Option & { hint?: string })[];
}

/** The typed value of each kind of form field. */
export interface FormKinds {
  /** One line, trimmed. */
  line: string;
  /** The same; empty means null. */
  lineOrNone: string;
  /** One line, not trimmed. */
  text: string;
  /** A whole number, or empty. */
  number: string;
  /** A list, one per line. */
  lines: string;
  /** A JSON value; empty means null. */
  json: string;
  /** The same for a list; empty means an empty one. */
  jsonList: string;
  tick: boolean;
  /** A confirmation: never ticked at first, and only sent if it is ticked. */
  vouch: boolean;
  choice: string;
  /** The same from a long list; empty means null. */
  select: string;
  choices: string[];
}

export interface FormKind<T> {
  /** The value in the form. */
  of(value: unknown): T;
  in(form: Form, name: string): T;
  /** The member of a body, before its rule is checked. */
  member(typed: T): unknown;
  /** The member is a list whose order says nothing: browsers send ticked boxes in the order of the page. */
  isSet?: true;
}

/** The form keeps the text as typed. */
const textKind = (member: (typed: string) => unknown): FormKind<string> => ({
  of: (value) => (value as string | number | null | undefined)?.toString() ?? '',
  in: (form, name) => form.get(name) ?? '',
  member,
});
/** What is no JSON is left to the rule of the member. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
const numberIn = (text: string): unknown => (/^\d{1,12}$/.test(text) ? Number(text) : text);
export const linesIn = (text: string): string[] =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const isTicked = (form: Form, name: string): boolean => form.get(name) === 'true';

const json: FormKind<string> = {
  ...textKind((typed) => (typed.trim() === '' ? null : jsonIn(typed))),
  of: (value) => (value === null || value === undefined ? '' : JSON.stringify(value, null, 2)),
};

export const FORM_KINDS: { [K in keyof FormKinds]: FormKind<FormKinds[K]> } = {
  line: textKind((typed) => typed.trim()),
  lineOrNone: textKind((typed) => typed.trim() || null),
  text: textKind((typed) => typed),
  number: textKind((typed) => (typed.trim() === '' ? null : numberIn(typed.trim()))),
  choice: textKind((typed) => typed),
  select: textKind((typed) => typed || null),
  lines: { ...textKind(linesIn), of: (value) => ((value ?? []) as string[]).join('\n') },
  json,
  jsonList: {
    ...json,
    of: (value) => (((value ?? []) as unknown[]).length === 0 ? '' : json.of(value)),
    member: (typed) => json.member(typed) ?? [],
  },
  tick: { of: (value) => value === true, in: isTicked, member: (typed) => typed },
  vouch: { of: () => false, in: isTicked, member: (typed) => typed || undefined },
  choices: {
    of: (value) => [...((value ?? []) as string[])],
    in: (form, name) => form.getAll(name),
    member: (typed) => typed,
    isSet: true,
  },
};
