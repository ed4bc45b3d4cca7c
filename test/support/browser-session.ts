import { parse, type HTMLElement } from 'node-html-parser';
import { CONDITION_OF_RUN } from './foreign-conditions.js';
import { Http, type Answer, type HttpOptions } from './http.js';
import { inParts, SMALL_IMAGE } from './in-parts.js';

/** A page as a user without a real browser sees it: forms are filled in from the HTML and posted with the cookies. */
export interface Page extends Answer {
  html: HTMLElement;
}

/** Where the page leads the browser: by a redirect, or by a page that goes on by itself. */
export function leadsTo({ headers, html }: Page): string | undefined {
  const refresh = html.querySelector('meta[http-equiv="refresh"]')?.getAttribute('content');
  return headers.get('location') ?? /^0; url=(.+)$/.exec(refresh ?? '')?.[1];
}

/** A browser reduced to cookies and forms; it follows only redirects within the service. */
export class BrowserSession {
  readonly cookies = new Map<string, string>();
  /** The page that was opened last. */
  private shown: string | undefined;
  private readonly http: Http;

  /** `always`: headers sent with every request, such as the client address that a proxy forwards. */
  constructor(
    private readonly url: string,
    private readonly always: Record<string, string> = {},
  ) {
    this.http = new Http(url);
  }

  async open(path: string, options: HttpOptions = {}): Promise<Page> {
    const headers: Record<string, string> = { accept: 'text/html', ...this.always, ...options.headers };
    if (this.cookies.size > 0)
      headers.cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await this.http.send(path, { ...options, headers });
    this.keepCookies(answer);
    if (!isForm(options) && answer.status === 200) this.shown = path;
    return pageOf(answer);
  }

  /** Submits the form with this action; hidden fields are included, and `fields` adds or replaces values. */
  submit(
    page: Page,
    action: string,
    fields: Record<string, string | string[] | undefined> = {},
  ): Promise<Page> {
    const form = page.html.querySelectorAll('form').find((each) => each.getAttribute('action') === action);
    if (!form)
      throw new Error(`no form ${action} on the page: ${page.status} ${page.html.text.slice(0, 300)}`);
    const values: Record<string, string[]> = {};
    for (const input of form.querySelectorAll('input, textarea, select')) {
      const name = input.getAttribute('name');
      if (!name || !isSent(input)) continue;
      (values[name] ??= []).push(valueOf(input));
    }
    const all: Record<string, string | string[] | undefined> = { ...values, ...fields };
    const pairs = Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((each): [string, string] => [name, each]),
    );
    if (form.getAttribute('enctype') === 'multipart/form-data')
      return this.submitInParts(form, action, pairs);
    const post = () => this.open(action, { form: pairs, headers: { origin: this.url } });
    const { forms } = CONDITION_OF_RUN ?? {};
    if (forms === 'twice') return this.twice(post);
    // The same page in another tab, after this one.
    return forms === 'in two tabs' && this.shown !== undefined ? this.open(this.shown).then(post) : post();
  }

  /** As a double click does: with the cookies that there were before it, and the answer to the second is shown. */
  private async twice(post: () => Promise<Page>): Promise<Page> {
    const before = new Map(this.cookies);
    await post();
    this.cookies.clear();
    for (const [name, value] of before) this.cookies.set(name, value);
    return post();
  }

  /** A form with a file: a small image. */
  private async submitInParts(form: HTMLElement, action: string, pairs: [string, string][]): Promise<Page> {
    const files = form.querySelectorAll('input[type=file]').map((input) => input.getAttribute('name')!);
    const parts = pairs.map(([name, value]) => [name, files.includes(name) ? SMALL_IMAGE : value] as const);
    return this.open(action, await inParts(Object.fromEntries(parts)));
  }

  /** Opens the page and submits its form that leads to the same path. */
  async fillIn(path: string, fields?: Record<string, string | string[] | undefined>): Promise<Page> {
    return this.submit(await this.open(path), path, fields);
  }

  async logIn(email: string, password: string): Promise<Page> {
    const answer = await this.submit(await this.open('/login'), '/login', { email, password });
    if (answer.status !== 303) throw new Error(`not signed in: ${answer.status}`);
    return answer;
  }

  /** Submits the consent page, which must be shown, and returns the address that the browser is redirected to. */
  async authorize(
    parameters: Record<string, string | undefined>,
    decision: 'authorize' | 'cancel' = 'authorize',
  ): Promise<URL> {
    const page = await this.open(authorizePath(parameters));
    if (page.status !== 200)
      throw new Error(`no consent page: ${page.status} ${page.headers.get('location')}`);
    const answer = await this.submit(page, '/o/authorize/', { decision });
    const location = answer.headers.get('location');
    if (!location) throw new Error(`no redirect: ${answer.status} ${answer.text.slice(0, 300)}`);
    return new URL(location);
  }

  private keepCookies(answer: Answer): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split('; ');
      const [name, value] = [pair!.slice(0, pair!.indexOf('=')), pair!.slice(pair!.indexOf('=') + 1)];
      const gone = attributes.some((attribute) => /^(max-age=0|expires=thu, 01 jan 1970)/i.test(attribute));
      if (gone) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

const isForm = ({ form, body, json }: HttpOptions): boolean => (form ?? body ?? json) !== undefined;

/** It is parsed only if a test looks into it. */
function pageOf(answer: Answer): Page {
  let html: HTMLElement | undefined;
  return Object.defineProperty(answer as Page, 'html', {
    get: () => (html ??= parse(answer.text)),
    enumerable: true,
  });
}

export function authorizePath(parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return `/o/authorize/?${new URLSearchParams(given).toString()}`;
}

/** The CSRF token of a form on the page: of the one with this action, or else of the first. */
export const csrfTokenOn = ({ html }: Page, action?: string): string =>
  html
    .querySelector(`form${action === undefined ? '' : `[action="${action}"]`} input[name=csrf_token]`)!
    .getAttribute('value')!;

let posts = 0;

/** With this field, which no form has, the same form is another one: it is handled, not answered as the one before (contract §3). */
export const postedAnew = (): { another_post: string } => ({ another_post: String(++posts) });

/** An unticked box is not sent. */
const isSent = (input: HTMLElement): boolean =>
  !/^(checkbox|radio)$/.test(input.getAttribute('type') ?? '') || input.hasAttribute('checked');

function valueOf(input: HTMLElement): string {
  if (input.tagName === 'TEXTAREA') return input.textContent;
  if (input.tagName !== 'SELECT') return input.getAttribute('value') ?? '';
  const options = input.querySelectorAll('option');
  const selected = options.find((option) => option.hasAttribute('selected')) ?? options[0];
  return selected?.getAttribute('value') ?? '';
}
