import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { changesBetween } from '#records/audit/audit.service.js';
import { listQuery } from '#entrypoints/admin/console/filtered-list.js';
import { Form } from '#platform/http/forms/form.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { Problem } from '#platform/http/problems/problem.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { AuditEventsQuery } from '#entrypoints/admin/api/audit-events/admin-audit-events.dto.js';
import { NewUserDto } from '#entrypoints/admin/api/users/admin-users.dto.js';
import { CLIENT_FORM } from '#access/clients/client.resource.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { USER_FORM } from '#access/users/accounts/user.resource.js';
import { anyJson, memberName, written } from './support/json-text.js';
import { oddText, urlText } from './support/odd-text.js';
import { laterOrProblem, orProblem } from './support/refused.js';
import { always, alwaysAsync, patience } from './support/runs.js';

type Dto = new () => object;
const COMPILED = path.join(process.cwd(), 'dist', 'src');
const FILES = readdirSync(COMPILED, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.dto.js'),
);
const pipe = new RequestValidationPipe();

/** Returns every class that a body or a query is validated against; new classes are included automatically. */
async function dtos(): Promise<Dto[]> {
  const modules = await Promise.all(
    FILES.map((file) => import(path.join(COMPILED, file)) as Promise<object>),
  );
  return modules.flatMap((each) => Object.values(each).filter(isClass));
}

const isClass = (each: unknown): each is Dto => typeof each === 'function' && /^class\b/.test(String(each));

/** Names of members, including some with a special meaning in JavaScript. */
const membersOf = (dto: Dto): fc.Arbitrary<string> => {
  const known = Object.keys(Object.getOwnPropertyDescriptors(new dto()));
  return fc.oneof(
    fc.constantFrom('email', 'name', 'scopes', 'url', 'data', 'timestamp', 'q', 'since', ...known),
    memberName(),
  );
};

describe('A body or a query', () => {
  it(
    'becomes an instance of its class or is a 400, for every class',
    async () => {
      const all = await dtos();
      expect(all.length).toBeGreaterThan(15);
      for (const dto of all) {
        const text = fc
          .array(fc.tuple(membersOf(dto), anyJson()), { maxLength: 6 })
          .map((members) => written({ members }));
        await alwaysAsync(
          fc.asyncProperty(text, fc.constantFrom('body' as const, 'query' as const), async (body, type) => {
            const value = parsed(body);
            if (value === undefined) return true;
            const result = await laterOrProblem(() => pipe.transform(value, { type, metatype: dto }));
            return result instanceof Problem ? result.status === 400 : result instanceof dto;
          }),
          20,
        );
        expect(({} as Record<string, unknown>).role).toBeUndefined();
      }
    },
    600_000 * patience(20),
  );

  it('of any type other than an object is refused', async () => {
    await alwaysAsync(
      fc.asyncProperty(fc.anything(), async (value) => {
        const result = await laterOrProblem(() =>
          pipe.transform(value, { type: 'body', metatype: NewUserDto }),
        );
        return result instanceof Problem || typeof value === 'object';
      }),
    );
  });

  it('is only accepted with times that the database and ISO 8601 parsers accept', async () => {
    const time = fc.oneof(
      oddText(),
      fc.stringMatching(
        /^\d{4}-[01]\d-[0-3]\d(T[0-2]\d:[0-6]\d(:[0-6]\d(\.\d{1,9})?)?(Z|[+-][0-2]\d:[0-5]\d))?$/,
      ),
    );
    await alwaysAsync(
      fc.asyncProperty(time, async (since) => {
        const result = await laterOrProblem(() =>
          pipe.transform({ since }, { type: 'query', metatype: AuditEventsQuery }),
        );
        if (result instanceof Problem) return true;
        const year = new Date(since).getUTCFullYear();
        return year >= 1 && year <= 9999;
      }),
    );
  });

  it('of a console page is parsed like that of the API, whatever the address contains', async () => {
    await alwaysAsync(
      fc.asyncProperty(fc.array(urlText(), { maxLength: 4 }), urlText(), async (parts, value) => {
        const url = `/admin/console/audit?${parts.join('&')}&page_size=${value}`;
        const query = await laterOrProblem(() => listQuery(AuditEventsQuery, url));
        if (query instanceof Problem) return query.status === 400;
        const page = orProblem(() => pageRequestOf(query));
        return page instanceof Problem || (page.size >= 1 && page.size <= 100);
      }),
    );
  });
});

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('A form of the console', () => {
  it('becomes members that the rules of the API can validate', () => {
    const fields = fc.dictionary(
      fc.constantFrom(
        'name',
        'email',
        'kind',
        'type',
        'grant_types',
        'scopes',
        'redirect_uris',
        'owner',
        'rate_limit',
        'company_service',
        'webhooks_enabled',
      ),
      oddText().map((text) => text.toWellFormed().replaceAll('\0', '')),
    );
    always(
      fc.property(fields, (given) => {
        const form = Form.parse(new URLSearchParams(given).toString());
        const { redirect_uris, rate_limit } = CLIENT_FORM.changedMembers(CLIENT_FORM.in(form)) as {
          redirect_uris: string[];
          rate_limit: unknown;
        };
        const { webhooks_enabled } = USER_FORM.in(form);
        return (
          redirect_uris.every((uri) => uri !== '' && !/[\r\n]/.test(uri)) &&
          ['number', 'string', 'object'].includes(typeof rate_limit) &&
          webhooks_enabled === (given.webhooks_enabled === 'true')
        );
      }),
    );
  });
});

describe('The key of an email address', () => {
  const letters = fc.constantFrom(...'aZéßſKİıΣσς@.ﬁＡ\u0301\u0344ΐ-+');
  const email = fc.oneof(
    oddText(),
    fc.string({ unit: letters, maxLength: 12 }),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  );

  it('is its own key, and the key of the address in lower case and in other normal forms', () => {
    always(
      fc.property(email, (text) => {
        const key = emailKeyOf(text);
        const spellings = [
          key,
          text.toLowerCase(),
          text.normalize('NFC'),
          text.normalize('NFD'),
          text.normalize('NFKC'),
        ];
        return spellings.every((each) => emailKeyOf(each) === key);
      }),
    );
  });
});

describe('The difference of two states', () => {
  const state = () =>
    fc.record({ a: fc.jsonValue(), b: fc.jsonValue(), c: fc.constantFrom(undefined, null, 1) });

  /** Whatever the order of the members, which the database changes. */
  const isSameJson = (one: unknown, other: unknown) =>
    isDeepStrictEqual(...([one, other].map(jsonOf) as [unknown, unknown]));
  const jsonOf = (value: unknown): unknown =>
    value === undefined ? undefined : JSON.parse(JSON.stringify(value));

  it('turns one into the other, contains only what changed, and is undefined if nothing did', () => {
    always(
      fc.property(state(), state(), fc.boolean(), (before, other, isSame) => {
        const after = isSame ? structuredClone(before) : other;
        const difference = changesBetween(before, after);
        if (!difference) return isSameJson(before, after);
        const names = Object.keys(difference.after) as (keyof typeof before)[];
        return (
          isSameJson({ ...before, ...difference.after }, after) &&
          names.every((name) => !isSameJson(before[name], after[name])) &&
          Object.keys(difference.before).join() === names.join()
        );
      }),
    );
  });
});
