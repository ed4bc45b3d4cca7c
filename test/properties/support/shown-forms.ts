import { parse, type HTMLElement } from 'node-html-parser';
import { PASSWORD } from '../../support/factory.js';
import { live } from './live.js';

/** A field of a form as shown on a page. */
export interface ShownField {
  name: string;
  type: string;
  /** The values that are sent if nobody changes them. */
  values: string[];
  /** The values that it offers. */
  choices: string[];
}

export interface ShownForm {
  action: string;
  method: 'get' | 'post';
  /** Whether it is sent in parts, with a file. */
  isInParts: boolean;
  fields: ShownField[];
}

/** Returns the forms on a page, and the targets of its links. */
export function readPage(html: string, path: string): { forms: ShownForm[]; links: string[] } {
  const page = parse(html);
  const forms = page.querySelectorAll('form').map((form) => ({
    action: form.getAttribute('action') ?? path,
    method: form.getAttribute('method')?.toLowerCase() === 'post' ? ('post' as const) : ('get' as const),
    isInParts: form.getAttribute('enctype') === 'multipart/form-data',
    fields: fieldsOf(form, page),
  }));
  const links = page.querySelectorAll('a[href]').map((each) => each.getAttribute('href')!);
  return { forms, links };
}

function fieldsOf(form: HTMLElement, page: HTMLElement): ShownField[] {
  const fields = new Map<string, ShownField>();
  const inside = form.querySelectorAll('input, textarea, select, button');
  const elsewhere = form.id === '' ? [] : page.querySelectorAll(`[form="${form.id}"]`);
  for (const input of [...inside, ...elsewhere]) {
    const name = input.getAttribute('name');
    if (!name) continue;
    const type = input.getAttribute('type') ?? input.tagName.toLowerCase();
    const field = fields.get(name) ?? { name, type, values: [], choices: [] };
    fields.set(name, field);
    const value = valueOf(input);
    field.choices.push(...(input.tagName === 'SELECT' ? optionsOf(input) : [value]));
    const isSent =
      input.tagName === 'BUTTON' ? field.values.length === 0 : !isBox(type) || input.hasAttribute('checked');
    if (isSent) field.values.push(value);
  }
  return [...fields.values()];
}

const isBox = (type: string): boolean => type === 'checkbox' || type === 'radio';
const optionsOf = (select: HTMLElement): string[] =>
  select.querySelectorAll('option').map((option) => option.getAttribute('value') ?? '');

function valueOf(input: HTMLElement): string {
  if (input.tagName === 'TEXTAREA') return input.textContent;
  if (input.tagName !== 'SELECT') return input.getAttribute('value') ?? '';
  const chosen = input.querySelector('option[selected]') ?? input.querySelector('option');
  return chosen?.getAttribute('value') ?? '';
}

/** What a person types into an empty field. */
const TYPED: Record<string, string> = {
  email: live('newEmail'),
  url: live('hookUrl'),
  password: PASSWORD,
  current_password: PASSWORD,
  password_again: PASSWORD,
  name: 'A name of its own',
  owner_id: live('ownerId'),
  user_id: live('userId'),
  user: live('userId'),
  from: '2026-01-01T00:00',
  to: '2026-01-02T00:00',
  message_id: 'ERR1',
  max_per_minute: '60',
  'batch.max': '50',
  'batch.wait_ms': '1000',
  filters: '[{"path":"type","operator":"exists"}]',
  headers: 'x-property: a value',
  accent_color: '#006b57',
  support_email: 'help@mail.example',
  rate_limit: '100',
  consent_expiry_days: '30',
  seed: '1',
  ...Object.fromEntries(
    ['site', 'privacy_policy', 'privacy_url', 'terms_url', 'external_link', 'uri', 'redirect_uris'].map(
      (name) => [name, 'https://app.example/property'],
    ),
  ),
  evidence: 'A letter',
};

/** The values that are sent for a field when the form is filled in correctly. */
export function filledValues({ name, type, values, choices }: ShownField): string[] {
  if (values.some((value) => value !== '')) return values;
  if (isBox(type)) return choices.slice(0, 1);
  if (type === 'select') return [choices.find((choice) => choice !== '') ?? ''];
  return [TYPED[name] ?? (type === 'textarea' || type === 'text' ? 'A text' : '')];
}
