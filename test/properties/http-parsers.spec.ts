import { PLAIN_BRAND } from '#platform/config/brand-values.js';
import { withoutLogo } from '#platform/web/layout/brand.js';
import fc from 'fast-check';
import type { IncomingMessage } from 'node:http';
import type { ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parse as parseHtml } from 'node-html-parser';
import type { Settings } from '#platform/config/settings.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { errorPage } from '#platform/http/problems/error-page.js';
import { Form, isUnsafeText, queryStringOf } from '#platform/http/forms/form.js';
import { jsonOrHtml, prefersHtml } from '#platform/http/server/negotiation.js';
import { linkHeader } from '#platform/http/api/list-answer.js';
import { badRequest, Problem } from '#platform/http/problems/problem.js';
import { renderProblem } from '#platform/http/problems/render-problem.js';
import { requestIdOf } from '#platform/http/server/request-id.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { ServiceVersionGuard } from '#platform/http/api/service-version.guard.js';
import { toProblem } from '#platform/http/problems/problem.filter.js';
import { headerText, oddText, urlText } from './support/odd-text.js';
import { isRefusal, orProblem } from './support/refused.js';
import { always } from './support/runs.js';

const BASE_URL = 'https://auth.example';
const request = (headers: Record<string, unknown>, url = '/'): FastifyRequest =>
  ({
    id: 'r1',
    url,
    headers,
    raw: { headers },
    server: { brand: withoutLogo(PLAIN_BRAND) },
  }) as unknown as FastifyRequest;
/** A header as Node provides it: absent, a string, or a list if it may be sent more than once. */
const header = (...usual: string[]) =>
  fc.oneof(headerText(), fc.constantFrom(undefined, ...usual), fc.array(headerText(), { maxLength: 3 }));

describe('A form', () => {
  const source = fc.array(fc.oneof(urlText(), oddText(), fc.constantFrom('=', '&', '+', 'a')), {
    maxLength: 8,
  });

  it('is either refused with a 400 or parsed, and parses the same after serialisation', () => {
    always(
      fc.property(source, (parts) => {
        const form = orProblem(() => Form.parse(parts.join('')));
        if (form instanceof Problem) return form.status === 400;
        const names = [...new Set(new URLSearchParams(form.source).keys())];
        const again = Form.parse(
          new URLSearchParams(
            names.flatMap((name) => form.getAll(name).map((value) => [name, value])),
          ).toString(),
        );
        return names.every(
          (name) => !isUnsafeText(name) && again.getAll(name).join('&') === form.getAll(name).join('&'),
        );
      }),
    );
  });

  it('has the same values as URLSearchParams whenever it is accepted', () => {
    always(
      fc.property(source, (parts) => {
        const form = orProblem(() => Form.parse(parts.join('')));
        if (form instanceof Problem) return true;
        const theirs = new URLSearchParams(form.source);
        return [...theirs.keys()].every((name) =>
          // This parser keeps a leading byte order mark as text, whereas the platform drops it.
          name.startsWith('\ufeff') || form.source.startsWith('?')
            ? true
            : JSON.stringify(form.getAll(name)) ===
              JSON.stringify(theirs.getAll(name).filter((each) => each !== '')),
        );
      }),
    );
  });

  it('in a URL is everything after the first question mark', () => {
    always(
      fc.property(urlText(), urlText(), (path, query) => {
        const bare = path.replaceAll('?', '');
        return queryStringOf(`${bare}?${query}`) === query && queryStringOf(bare) === '';
      }),
    );
  });
});

describe('A return_to value', () => {
  it('stays the same when it is validated again, and is safe in a header', () => {
    const text = fc.array(fc.oneof(urlText(), fc.constantFrom('/', '//', '/./', '/..', '?', '#', '@', ':')), {
      maxLength: 6,
    });
    always(
      fc.property(text, (parts) => {
        const taken = safeReturnTo(`/${parts.join('')}`);
        if (taken === undefined) return true;
        return safeReturnTo(taken) === taken && /^\/(?!\/)[\x21-\x7e]*$/.test(taken) && !taken.includes('\\');
      }),
    );
  });
});

describe('A request id', () => {
  it("is the caller's if valid, otherwise a new one, and is always safe in a header and a log line", () => {
    always(
      fc.property(header('abc-1', 'x'.repeat(128), 'x'.repeat(129), 'cds_at_secret', 'a b'), (given) => {
        const id = requestIdOf({ headers: { 'x-request-id': given } } as unknown as IncomingMessage);
        return /^(?!cds_)[A-Za-z0-9._-]{1,128}$/.test(id) && (id === given || /^[0-9A-Z]{26}$/.test(id));
      }),
    );
  });
});

describe('Service-Version', () => {
  it('is either absent or a number equal to 2, otherwise the answer is a 400', () => {
    const version = fc.oneof(
      header('2', '2.0', '02', '2.00', '2.1', '1', '+2', '0x2', '2e0', ' 2'),
      fc.double().map(String),
    );
    always(
      fc.property(version, (given) => {
        const context = {
          switchToHttp: () => ({ getRequest: () => request({ 'service-version': given }) }),
        } as unknown as ExecutionContext;
        const result = orProblem(() => new ServiceVersionGuard().canActivate(context));
        const isTwo =
          given === undefined ||
          (typeof given === 'string' && /^\d+(\.\d+)?$/.test(given) && Number(given) === 2);
        return isTwo ? result === true : result instanceof Problem && result.status === 400;
      }),
    );
  });
});

describe('Accept', () => {
  const accept = header(
    'text/html',
    '*/*',
    'text/*;q=0.1, */*;q=0.2',
    'application/json;q=0',
    'text/html;q=x',
    ';',
    ',,',
    '/',
  );

  it('is always parsed without an error', () => {
    always(
      fc.property(accept, (given) => {
        const headers =
          given === undefined ? {} : { accept: Array.isArray(given) ? given.join(', ') : given };
        const wanted = jsonOrHtml(request(headers));
        return (
          [true, false].includes(prefersHtml(request(headers))) &&
          ['json', 'html', undefined].includes(wanted) &&
          (given !== undefined || wanted === 'json')
        );
      }),
    );
  });
});

describe("A form's CSRF token", () => {
  const settings = { encryptionKeys: [Buffer.alloc(32, 'k')], baseUrl: BASE_URL, secure: false } as Settings;
  const csrf = new CsrfService(new Cookies(settings), settings);
  const browser = (secret?: string, origin?: string) =>
    ({
      cookies: secret === undefined ? {} : { cds_csrf: secret },
      headers: { origin },
    }) as unknown as FastifyRequest;
  const reply = { setCookie: () => undefined } as unknown as FastifyReply;
  const posted = (token: string) => Form.parse(new URLSearchParams({ csrf_token: token }).toString());
  const isTaken = (request: FastifyRequest, token: string, binding: string) =>
    orProblem(() => csrf.check(request, posted(token), binding)) === undefined;
  const text = () => oddText().map((each) => each.toWellFormed().replaceAll('\0', ''));

  it('is valid only for the form and the browser that it was issued for', () => {
    always(
      fc.property(text(), text(), text(), (one, other, otherSecret) => {
        // A form is always bound to something, never to an empty string.
        const [binding, otherBinding] = [`form ${one}`, `form ${other}`];
        const mine = browser();
        const token = csrf.tokenFor(mine, reply, binding);
        const secret = mine.cookies.cds_csrf!;
        return (
          isTaken(browser(secret), token, binding) &&
          isTaken(browser(secret, BASE_URL), token, binding) &&
          !isTaken(browser(secret, 'https://evil.example'), token, binding) &&
          isTaken(browser(secret), token, otherBinding) === (binding === otherBinding) &&
          !isTaken(browser(otherSecret), token, binding) &&
          !isTaken(browser(), token, binding)
        );
      }),
    );
  });

  it('is refused with a 403 if it was not issued, whatever the form and the cookie contain', () => {
    always(
      fc.property(text(), text(), text(), (token, secret, binding) => {
        const result = orProblem(() => csrf.check(browser(secret), posted(token), binding));
        return result instanceof Problem && result.status === 403;
      }),
    );
  });
});

describe('A Link header', () => {
  it('contains one address of this service for each page, with the original parameters', () => {
    always(
      fc.property(urlText(), urlText(), oddText(), (name, value, id) => {
        const link = linkHeader(`${BASE_URL}/v2/users?${name}=${value}`, { after: id, before: id })!;
        const match = /^<([^<>]*)>; rel="next", <([^<>]*)>; rel="previous"$/.exec(link);
        const next = new URL(match![1]!);
        return (
          next.origin === BASE_URL &&
          next.pathname === '/v2/users' &&
          next.searchParams.get('page_after') === id.toWellFormed() &&
          /^[\x21-\x7e]*$/.test(match![1]!)
        );
      }),
    );
  });
});

describe('Any thrown value', () => {
  const thrown = fc.oneof(
    fc.anything({ withNullPrototype: true, withBigInt: true }),
    fc.record({
      statusCode: fc.anything(),
      code: fc.anything(),
      message: fc.anything(),
      driverError: fc.anything(),
    }),
    fc
      .integer({ min: -1, max: 1000 })
      .map((statusCode) => Object.assign(new Error('inside'), { statusCode })),
  );

  it('becomes a problem that reveals no internals', () => {
    always(
      fc.property(thrown, (each) => {
        const { status, detail } = toProblem(each);
        return status >= 400 && status < 600 && /\w+ \w+/.test(detail) && !detail.includes('inside');
      }),
    );
  });
});

describe('A refusal', () => {
  it('as a page shows any text as plain text', () => {
    always(
      fc.property(oddText(), (text) => {
        const { body } = errorPage(badRequest(text), request({}));
        const shown = parseHtml(body).querySelector('main')!.text;
        const visible = (each: string) => each.replace(/\s+/g, ' ').trim();
        return isRefusal(badRequest(text)) && visible(shown).includes(visible(text)) && !/<zq7/.test(body);
      }),
    );
  });

  it('as JSON preserves its text', () => {
    always(
      fc.property(oddText(), (text) => {
        const body = JSON.parse(renderProblem(badRequest(text), BASE_URL).body) as { detail: string };
        return body.detail === text;
      }),
    );
  });
});
