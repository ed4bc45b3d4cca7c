import fc from 'fast-check';
import type { PurposeThat } from '#platform/secrets/purpose-key.js';
import { newSecret, type SecretKind } from '#platform/secrets/tokens.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { BrowserSession, csrfTokenOn, type Page } from '../support/browser-session.js';
import { newKey } from '../support/client-keys.js';
import { proofOf } from '../support/dpop.js';
import { changesRead } from '../support/changes-read.js';
import { PASSWORD, REDIRECT_URI, until, WEBHOOK_ENV } from '../support/spec.js';
import type { Answer, HttpOptions } from '../support/http.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { codeOf } from '../support/second-factors.js';
import { statementsDuring } from '../support/statements.js';
import { startService, type TestService } from '../support/test-service.js';
import type { Live } from './support/live.js';
import { oddText, percentEncoded } from './support/odd-text.js';
import { PROVIDER } from './support/routes.js';
import { alwaysAsync, patience } from './support/runs.js';
import { VERIFIER, World } from './support/world.js';

const RUNS = 25;
const ENV = {
  ...WEBHOOK_ENV,
  ...MAIL_ENV,
  RATE_LIMIT_PER_HOUR: '1000000000',
  OAUTH_RATE_LIMIT_PER_MINUTE: '1000000000',
  DPOP_NONCE: 'true',
};

/**
 * What is sealed and stays here: no request brings it. (In the address of a callback there is a sealed name, by which nobody is looked up:
 * test/e2e/provider-posted-answers.spec.ts.)
 */
type Stored =
  | 'answer of a form'
  | 'encryption canary'
  | 'mail'
  | 'provider id token'
  | 'provider sign-in'
  | 'receipt key'
  | 'return through mail'
  | 'token key'
  | 'webhook endpoint headers'
  | 'webhook endpoint secret'
  | 'webhook receiver client secret'
  | 'webhook signing key';

/** Every key that a request brings and that this service has made: random with a prefix and a checksum, signed, or sealed. */
type Key =
  | SecretKind
  | 'accessToken'
  | 'refreshToken'
  | PurposeThat<'signs'>
  | Exclude<PurposeThat<'seals'>, Stored>;

/** A place where a key is sent. */
interface Door {
  at: string;
  /** A key that works there, and what sends one. `world`: its own fixtures. */
  open: (
    world: World,
    service: TestService,
  ) => Promise<{ genuine: string; send: (key: string) => Promise<Answer> }>;
  /** Why a request is looked up in the database before its key is: it may cost the same statements as without a key. */
  behind?: string;
  /** What arrives of a key; all of it by default. */
  sent?: (key: string) => string;
}

/** What a header can carry. */
const inHeader = (key: string): string => key.replace(/[^\x20-\x7e\x80-\xff]/g, '').trim();
/** A box is opened with the bytes. */
const inBytes = (key: string): string => Buffer.from(key, 'base64url').toString('base64url');

/**
 * In the path, as GET by default. A form is bound to its path, so none that this service has shown can be posted with another key: what
 * is posted here is what needs no form.
 */
const inPath = (
  base: string,
  name: Live,
  { rest = '', behind, ...options }: HttpOptions & { rest?: string; behind?: string } = {},
): Door => ({
  at: `${options.method ?? 'GET'} ${base}/…${rest}`,
  behind,
  open: async (world, { http }) => {
    const headers = behind ? { cookie: `cds_session=${await world.value('userSession')}` } : undefined;
    return {
      genuine: await world.value(name),
      send: (key) => http.send(`${base}/${percentEncoded(key)}${rest}`, { ...options, headers }),
    };
  },
});

const inCookie = (
  cookie: string,
  path: string,
  genuine: (world: World) => Promise<string>,
  options: HttpOptions = {},
): Door => ({
  at: `cookie at ${path}`,
  open: async (world, { http }) => ({
    genuine: await genuine(world),
    send: (key) =>
      http.send(path, { ...options, headers: { cookie: `cds_${cookie}=${percentEncoded(key)}` } }),
  }),
});

const inForm = (
  path: string,
  field: string,
  name: Live,
  more: Record<string, string>,
  by: readonly [id: Live, secret: Live],
): Door => ({
  at: `${field} at ${path}`,
  behind: 'the client',
  open: async (world, { http }) => {
    const basic = { id: await world.value(by[0]), secret: await world.value(by[1]) };
    return {
      genuine: await world.value(name),
      send: (key) => http.send(path, { form: { ...more, [field]: key }, basic }),
    };
  },
});
const PARTNER = ['clientId', 'clientSecret'] as const;
const OPERATOR = ['operatorClientId', 'operatorClientSecret'] as const;

/** A field of a form on a page of someone who is logged in. */
const inPage = (
  field: string,
  path: string,
  session: Live,
  fields: (world: World, page: Page) => Promise<Record<string, string>>,
): Door => ({
  at: `${field} at ${path}`,
  behind: 'the session',
  sent: field === 'set_up' ? inBytes : undefined,
  open: async (world, { url }) => {
    const browser = new BrowserSession(url);
    browser.cookies.set('cds_session', await world.value(session));
    const page = await browser.open(path);
    const genuine = page.html
      .querySelector(`form[action="${path}"] input[name=${field}]`)!
      .getAttribute('value')!;
    const more = await fields(world, page);
    return { genuine, send: (key) => browser.submit(page, path, { ...more, [field]: key }) };
  },
});

const DOORS: Record<Key, Door[]> = {
  authorizationCode: [
    inForm(
      '/o/token',
      'code',
      'code',
      { grant_type: 'authorization_code', redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
      PARTNER,
    ),
  ],
  clientSecret: [
    {
      at: 'Basic at /o/token',
      behind: 'a company file may have named any secret',
      open: async (world, { http }) => {
        const id = await world.value('clientId');
        return {
          genuine: await world.value('clientSecret'),
          send: (secret) => http.token({ grant_type: 'client_credentials' }, { id, secret }),
        };
      },
    },
  ],
  accessToken: [
    {
      at: 'Bearer',
      sent: inHeader,
      open: async (world, { http }) => ({
        genuine: await world.value('accessToken'),
        send: (key) => http.send('/v2/users/me', { headers: { authorization: `Bearer ${inHeader(key)}` } }),
      }),
    },
    inForm('/o/introspect/', 'token', 'accessToken', {}, OPERATOR),
    inForm('/o/revoke_token/', 'token', 'accessToken', {}, PARTNER),
  ],
  refreshToken: [
    inForm('/o/token', 'refresh_token', 'refreshToken', { grant_type: 'refresh_token' }, PARTNER),
    inForm('/o/revoke_token/', 'token', 'refreshToken', {}, PARTNER),
  ],
  pushedRequest: [
    {
      at: 'request_uri at /o/authorize/',
      open: async (world, { http }) => {
        const client_id = await world.value('clientId');
        const client_secret = await world.value('clientSecret');
        const form = { client_id, client_secret, response_type: 'code', redirect_uri: REDIRECT_URI };
        const uri = (await http.send('/o/par', { form })).json.request_uri as string;
        const [genuine] = /[^:]*$/.exec(uri)!;
        const before = uri.slice(0, -genuine.length);
        const path = `/o/authorize/?client_id=${client_id}&request_uri=`;
        return { genuine, send: (key) => http.get(path + percentEncoded(before + key)) };
      },
    },
  ],
  portalKey: [inPath('/portal/login', 'portalKey')],
  passwordKey: [inPath('/password', 'passwordKey')],
  emailKey: [inPath('/email/verify', 'emailKey')],
  signUpKey: [
    inPath('/sign-up', 'signUpKey'),
    inPath('/sign-up', 'signUpKey', { method: 'POST', rest: '/passkey/options', json: {} }),
  ],
  invitationKey: [inPath('/invitations', 'invitationKey')],
  exportKey: [inPath('/account/export', 'exportKey', { behind: 'the session' })],
  session: [
    inCookie('session', '/account', (world) => world.value('userSession')),
    inCookie('session', '/admin/console', (world) => world.value('operatorSession')),
  ],
  linkSession: [inCookie('portal_session', '/portal', (world) => world.value('portalSession'))],
  memberSession: [inCookie('portal_session', '/portal', (world) => world.value('memberSession'))],
  pendingSignIn: [
    inCookie('pending_sign_in', '/login/second-factor', (world) => world.value('pendingSignIn')),
  ],
  passkeyChallenge: [
    inCookie('passkey_sign_in', '/login/passkey', () => Promise.resolve(newSecret('passkeyChallenge')), {
      json: {
        response: {
          id: 'AA',
          rawId: 'AA',
          type: 'public-key',
          clientExtensionResults: {},
          response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' },
        },
      },
    }),
  ],
  signIn: [
    inCookie('sign_in', `/login/callback/${PROVIDER}?state=s&code=c`, () =>
      Promise.resolve(newSecret('signIn')),
    ),
  ],
  unsubscribing: [
    inPath('/email/unsubscribe', 'unsubscribeKey'),
    inPath('/email/unsubscribe', 'unsubscribeKey', {
      method: 'POST',
      form: { 'List-Unsubscribe': 'One-Click' },
    }),
  ],
  'csrf tokens': [
    {
      at: 'csrf_token at /password/forgotten',
      behind: 'the claim of the form',
      open: async (_world, { url }) => {
        const browser = new BrowserSession(url);
        const page = await browser.open('/password/forgotten');
        return {
          genuine: csrfTokenOn(page),
          send: (key) =>
            browser.submit(page, '/password/forgotten', { email: 'nobody@mail.example', csrf_token: key }),
        };
      },
    },
  ],
  'dpop nonces': [
    {
      at: 'nonce of a DPoP proof',
      open: async (_world, { make, http, url }) => {
        const [client, key] = [await make.client(), await newKey()];
        const send = async (nonce: string) =>
          http.send('/o/token', {
            form: { grant_type: 'client_credentials' },
            basic: client,
            headers: { dpop: await proofOf(key, 'POST', `${url}/o/token`, { claims: { nonce } }) },
          });
        return { genuine: (await send('')).headers.get('dpop-nonce')!, send };
      },
    },
  ],
  'form ids': [
    inPage('once', '/admin/console/clients/new', 'operatorSession', async (world) => ({
      name: 'A client',
      owner: await world.value('ownerId'),
      type: 'confidential',
      grant_types: 'client_credentials',
      scopes: 'vehicle:read',
      confirm_password: PASSWORD,
    })),
  ],
  'known browsers': [
    {
      at: 'cookie at POST /login',
      behind: 'the login',
      open: async (_world, { url, make }) => {
        const { email } = await make.user({ emailVerified: true });
        const known = new BrowserSession(url);
        await known.logIn(email, PASSWORD);
        const send = async (key: string) => {
          const browser = new BrowserSession(url);
          browser.cookies.set('cds_known_browser', percentEncoded(key));
          return browser.fillIn('/login', { email, password: PASSWORD });
        };
        return { genuine: decodeURIComponent(known.cookies.get('cds_known_browser')!), send };
      },
    },
  ],
  'authenticator app': [
    inPage('set_up', '/account/security/app/new', 'userSession', async (_world, { html }) => ({
      code: codeOf(html.querySelector('code.secret')!.text.replaceAll(' ', '')),
    })),
  ],
  'shown once': [
    {
      at: 'cookie at a password link',
      behind: 'the session',
      sent: inBytes,
      open: async (world, { url, http }) => {
        const browser = new BrowserSession(url);
        browser.cookies.set('cds_session', await world.value('operatorSession'));
        const page = `/admin/console/users/${await world.value('userId')}`;
        const path = `${page}/password-link`;
        await browser.submit(await browser.open(page), path);
        const name = [...browser.cookies.keys()].find((each) => each.startsWith('cds_shown_once'))!;
        const session = `cds_session=${browser.cookies.get('cds_session')!}`;
        return {
          genuine: browser.cookies.get(name)!,
          send: (key) =>
            http.get(path, { headers: { cookie: `${session}; ${name}=${percentEncoded(key)}` } }),
        };
      },
    },
  ],
  'position in the feed of events': [
    {
      at: 'after at GET /v2/events',
      behind: 'the rows of the feed',
      sent: inBytes,
      open: async (world, { http }) => {
        const bearer = await world.value('partnerToken');
        const page = await http.get('/v2/events', { bearer });
        return {
          genuine: /after=([^&>]+)/.exec(page.headers.get('link')!)![1]!,
          send: (key) => http.get(`/v2/events?after=${percentEncoded(key)}`, { bearer }),
        };
      },
    },
  ],
};

/** Keys that are not what was made, but much like it. */
const brokenKeys = (genuine: string): fc.Arbitrary<string> => {
  const prefix = /^(cds_[a-z]{2}_)?/.exec(genuine)![0];
  const at = fc.nat(genuine.length - 1);
  const withPart = (change: (part: Buffer, other: string) => Buffer) =>
    fc.tuple(fc.nat(), oddText()).map(([n, other]) => {
      const parts = genuine.slice(prefix.length).split('.');
      const part = Buffer.from(parts[n % parts.length]!, 'base64url');
      parts[n % parts.length] = change(part, other).toString('base64url');
      return prefix + parts.join('.');
    });
  return fc.oneof(
    oddText(),
    oddText().map((text) => prefix + text),
    at.map((n) => genuine.slice(0, n)),
    at.map((n) => `${genuine.slice(0, n)}\0${genuine.slice(n)}`),
    at.map((n) => genuine.slice(0, n) + (genuine[n] === 'A' ? 'B' : 'A') + genuine.slice(n + 1)),
    fc.constantFrom(genuine + genuine, genuine + 'x'.repeat(2000), `${genuine}.${genuine}`, `${genuine}\0`),
    // What is inside, with what no row has.
    withPart((part) => Buffer.concat([part, Buffer.from('\0')])),
    withPart((part, other) => Buffer.concat([part.subarray(0, part.indexOf(' ') + 1), Buffer.from(other)])),
    withPart((_part, other) => Buffer.from(other)),
  );
};

describe('A key in a request that this service has not made so', () => {
  let service: TestService;
  let provider: IdentityProvider;

  beforeAll(async () => {
    provider = await IdentityProvider.open();
    service = await startService({ env: { ...ENV, ...provider.env({}) } });
    provider.serveTo(service.url);
    // Otherwise a busy machine reads more.
    jest.spyOn(AccessChanges.prototype, 'isTrusted', 'get').mockReturnValue(true);
    // What it reads once it listens would count as asked for by the first keys.
    await until('it listens', () => service.app.get(Listener).isConnected);
    await service.app.get(SchemaCompatibility).look();
  });
  afterAll(async () => {
    await service.stop();
    await provider.close();
  });

  const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> =>
    (await statementsDuring(service, work)).filter(
      (sql) => !/^(START TRANSACTION|BEGIN|COMMIT|ROLLBACK|SET LOCAL)/.test(sql),
    );
  /** What one sees of an answer: its status, what it has asked for, and its words. */
  const seenOf = async (
    send: () => Promise<Answer>,
  ): Promise<{ status: number; asked: string[]; all: string }> => {
    let answer!: Answer;
    const asked = await statementsOf(async () => (answer = await send()));
    const words = answer.text.replaceAll(/ value="[^"]*"/g, '');
    return { status: answer.status, asked, all: JSON.stringify([answer.status, asked, words]) };
  };

  const doors = Object.entries(DOORS).flatMap(([name, all]) =>
    all.map((door): [string, string, Door] => [name, door.at, door]),
  );

  it.each(doors)(
    'is refused without asking the database: %s, %s',
    async (_name, _at, { open, behind, sent = (key) => key }) => {
      const { genuine, send } = await open(new World(service, 'https://hook.example/'), service);
      // Also what admits the request, until that is remembered.
      const admitting = (await seenOf(() => send('none'))).asked;
      await changesRead(service);
      await send('none');
      const usual = await seenOf(() => send('none'));
      if (behind === undefined) expect([...admitting, ...usual.asked]).toEqual([]);
      const allowed = new Set([...admitting, ...usual.asked]);
      await alwaysAsync(
        fc.asyncProperty(brokenKeys(genuine), async (key) => {
          if (sent(key) === sent(genuine)) return;
          const { status, asked } = await seenOf(() => send(key));
          expect(asked.filter((sql) => !allowed.has(sql))).toEqual([]);
          expect(status).toBeLessThan(500);
        }),
        RUNS,
      );
      // Otherwise this tests nothing.
      expect((await seenOf(() => send(genuine))).all).not.toBe(usual.all);
    },
    60_000 * patience(RUNS),
  );
});
