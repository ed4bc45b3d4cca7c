import type { BrowserSession, Page } from './browser-session.js';
import type { Answer } from './http.js';

/** Collects every secret that was seen, and where. */
export class Secrets {
  readonly seen = new Map<string, string>();

  add(what: string, secret: string | undefined | null): string {
    if (!secret || secret.length < 12) throw new Error(`no ${what} was seen`);
    this.seen.set(secret, what);
    return secret;
  }

  cookies(browser: BrowserSession): void {
    for (const [name, value] of browser.cookies) this.add(`cookie ${name.slice('cds_'.length)}`, value);
  }

  csrf(page: Page): void {
    for (const input of page.html.querySelectorAll('input[name=csrf_token]'))
      this.add('CSRF token', input.getAttribute('value'));
  }

  tokens(answer: Answer): { access_token: string; refresh_token: string } {
    const { access_token, refresh_token } = answer.json as { access_token: string; refresh_token: string };
    this.add('access token', access_token);
    if (refresh_token) this.add('refresh token', refresh_token);
    return { access_token, refresh_token };
  }

  /** The secrets that the text contains: in clear, in base64 of any alignment, or in hex. */
  in(text: string): string[] {
    const found: string[] = [];
    const lower = text.toLowerCase();
    for (const [secret, what] of this.seen) {
      const bytes = Buffer.from(secret);
      const forms = [secret, encodeURIComponent(secret), ...alignedBase64(bytes)];
      if (forms.some((form) => text.includes(form))) found.push(`${what} in clear or base64`);
      if (lower.includes(bytes.toString('hex'))) found.push(`${what} in hex`);
      // The body of a token, without its prefix.
      const body = /^(?:cds_[a-z]{2}|whsec)_(.+)$/.exec(secret)?.[1];
      if (body && secret.startsWith('whsec_') && text.includes(body))
        found.push(`${what}, without its prefix`);
      if (body && lower.includes(Buffer.from(body, 'base64url').subarray(0, 32).toString('hex')))
        found.push(`${what}, its bytes`);
    }
    return found;
  }
}

/** The parts of the base64 form that do not depend on the surrounding bytes, for each of the three alignments. */
function alignedBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    const inner = text.slice(shift === 0 ? 0 : 4, text.length - 4);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
