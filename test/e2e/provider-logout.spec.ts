import { createRemoteJWKSet, jwtVerify } from 'jose';
import { ProviderClients } from '#access/identity-providers/protocol/provider-clients.service.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo } from '../support/browser-session.js';
import { madeOnce, PASSWORD, PATIENT, useServiceWithProvider } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';
import { CLIENT_ID, IdentityProvider, PersonBrowser } from '../support/identity-provider.js';

const OTHER_PASSWORD = 'a new long password';

describe('Logging out', () => {
  describe('of a session that came from a provider', () => {
    const idp = new IdentityProvider();
    const service = useServiceWithProvider(idp);
    beforeAll(() => void idp.people.set('ada', { email: 'ada@mail.example', email_verified: true }));

    const signedIn = async (): Promise<PersonBrowser> => {
      const browser = new PersonBrowser(service.url, idp.url);
      await browser.logIn('ada');
      return browser;
    };

    it('leads to the provider, which is asked to return to the login page', async () => {
      const { service: browser } = await signedIn();
      const page = await browser.open('/account');
      expect(page.headers.get('content-security-policy')).toMatch(/form-action 'self'$/);
      const answer = await browser.submit(page, '/logout');
      const location = new URL(leadsTo(answer)!);
      expect([answer.status, location.origin]).toEqual([200, idp.url]);
      expect(Object.fromEntries(location.searchParams)).toEqual({
        client_id: CLIENT_ID,
        id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        post_logout_redirect_uri: `${service.url}/login`,
      });
      expect((await browser.open('/account')).status).toBe(302);
    });

    it('ends the session there, which returns to the login page; the next login asks who it is again', async () => {
      const browser = await signedIn();
      const next = await browser.logOut();
      expect(next).toBe(`${service.url}/login`);
      expect((await browser.service.open(next)).status).toBe(200);
      const asked = () => idp.requests.filter((each) => each.startsWith('POST /interaction/')).length;
      const before = asked();
      await browser.logIn('ada');
      expect(asked()).toBe(before + 1);
    });

    it('leads after it to where someone wanted to go who logs in as someone else', async () => {
      const browser = await signedIn();
      const place = '/account/sessions?page_size=5';
      await browser.service.submit(await browser.service.open('/account'), '/logout', { return_to: place });
      const login = await browser.service.open('/login');
      expect(login.html.querySelector('input[name="return_to"]')?.getAttribute('value')).toBe(place);
      await browser.service.submit(await browser.service.open('/login'), '/login', {
        email: 'nobody@mail.example',
        password: 'a wrong password',
      });
      const elsewhere = await signedIn();
      await elsewhere.service.submit(await elsewhere.service.open('/account'), '/logout', {
        return_to: 'https://evil.example/',
      });
      expect(
        (await elsewhere.service.open('/login')).html.querySelector('input[name="return_to"]'),
      ).toBeNull();
    });

    it('ends the sessions of other browsers that came from the same session there, by its own call', async () => {
      const one = await signedIn();
      const other = new PersonBrowser(service.url, idp.url, one.there);
      await other.logIn('ada');
      const elsewhere = await signedIn();
      idp.logoutCalls.length = 0;
      await one.logOut();
      expect(idp.logoutCalls).toEqual(['accepted']);
      expect((await other.service.open('/account')).status).toBe(302);
      expect((await elsewhere.service.open('/account')).status).toBe(200);
    });

    it('of a session with a password stays here', async () => {
      const browser = await service.make.signedIn(await service.make.user());
      const answer = await browser.submit(await browser.open('/account'), '/logout');
      expect(answer.headers.get('location')).toBe('/login');
    });
  });

  const broken = new BrokenIdentityProvider();
  const staff = { id: 'staff', label: 'Example Staff', audience: ['operators'], accounts: 'verified_email' };
  const pool = { id: 'pool', label: 'Pool', logout_redirect_parameter: 'logout_uri' };
  const ofBroken = useServiceWithProvider(broken, [{}, staff, pool], {
    instances: 2,
    databaseOptions: PATIENT,
  });
  /** Logs in through the provider that says what a test wants. */
  const logIn = async (sub: string, claims: object = {}, provider = 'company'): Promise<BrowserSession> => {
    broken.faults = { claims: { sub, email: `${sub}@mail.example`, ...claims } };
    const browser = new BrowserSession(ofBroken.url);
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${provider}`);
    expect((await browser.open(broken.callbackOf(leadsTo(begun)!))).headers.get('location')).toBe('/account');
    return browser;
  };

  describe('at the provider', () => {
    const [idp, service] = [broken, ofBroken];

    const logOut = async (browser: BrowserSession): Promise<URLSearchParams> => {
      const page = await browser.submit(await browser.open('/account'), '/logout');
      expect([page.status, page.html.querySelector('h1')!.text]).toEqual([200, 'You are logged out']);
      return new URL(leadsTo(page)!).searchParams;
    };
    const claimsOf = async (hint: string | null) =>
      (await jwtVerify(hint ?? '', createRemoteJWKSet(new URL(`${idp.url}/jwks`)))).payload;

    it('names the session there by its ID token, on a page with a link that goes on there', async () => {
      const query = await logOut(await logIn('hal', { sid: 'session-1' }));
      expect(await claimsOf(query.get('id_token_hint'))).toMatchObject({ sub: 'hal', sid: 'session-1' });
      expect([query.get('client_id'), query.get('post_logout_redirect_uri')]).toEqual([
        CLIENT_ID,
        `${service.url}/login`,
      ]);
    });

    it('says where to return to as the provider wants it, which then gets no ID token', async () => {
      expect(Object.fromEntries(await logOut(await logIn('pia', {}, 'pool')))).toEqual({
        client_id: CLIENT_ID,
        logout_uri: `${service.url}/login`,
      });
    });

    it('names it by the latest ID token after authenticating again', async () => {
      const browser = await logIn('ida', { sid: 'before' });
      const page = await browser.open('/account/confirm?return_to=/account/security');
      const again = leadsTo(await browser.submit(page, '/account/confirm'))!;
      idp.faults.claims!.sid = 'after';
      expect((await browser.open(idp.callbackOf(again))).headers.get('location')).toBe('/account/security');
      expect(await claimsOf((await logOut(browser)).get('id_token_hint'))).toMatchObject({ sid: 'after' });
    });

    it('names it also after the session was renewed by a new password', async () => {
      const { email } = await service.make.user();
      const browser = await logIn('jon', { sid: 'session-3', email });
      // The first login there ended the password that the account had.
      await service.database.query(
        'UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = $1) WHERE email = $2',
        [(await service.make.user()).id, email],
      );
      const other = OTHER_PASSWORD;
      const fields = { current_password: PASSWORD, password: other, password_again: other };
      const page = await browser.open('/account/password');
      expect((await browser.submit(page, '/account/password', fields)).status).toBe(303);
      expect(await claimsOf((await logOut(browser)).get('id_token_hint'))).toMatchObject({
        sid: 'session-3',
      });
    });

    it('stores it sealed only, and leaves no trace of it', async () => {
      const browser = await logIn('kai', { sid: 'session-4' });
      const [row] = await service.database.query<{ sealed: Buffer; text: string }>(
        'SELECT sealed_id_token AS sealed, sessions::text AS text FROM sessions WHERE provider_subject = $1',
        ['kai'],
      );
      const hint = (await logOut(browser)).get('id_token_hint')!;
      for (const part of hint.split('.')) {
        expect(row!.sealed.toString('latin1')).not.toContain(part);
        expect([...browser.cookies.values()].join()).not.toContain(part);
      }
      expect(service.log.join('\n')).not.toContain(hint.split('.')[2]);
      const left = await service.database.query('SELECT 1 FROM sessions WHERE provider_subject = $1', [
        'kai',
      ]);
      expect(left).toEqual([]);
    });

    it('goes there without it if it is too long for an address', async () => {
      const query = await logOut(
        await logIn('lea', { groups: Array.from({ length: 500 }, (_, n) => `group ${n}`) }),
      );
      expect([query.get('client_id'), query.has('id_token_hint')]).toEqual([CLIENT_ID, false]);
    });

    it('goes there without it if it was moved from the session of someone else', async () => {
      const [one, two] = [await logIn('fay'), await logIn('gus')];
      await service.database.query(
        `UPDATE sessions SET sealed_id_token = (SELECT sealed_id_token FROM sessions WHERE provider_subject = 'fay')
          WHERE provider_subject = 'gus'`,
      );
      expect((await logOut(two)).has('id_token_hint')).toBe(false);
      expect((await logOut(one)).has('id_token_hint')).toBe(true);
    });
  });

  describe('by a logout token', () => {
    const PATH = '/login/backchannel_logout/company';
    const [idp, service] = [broken, ofBroken];
    beforeEach(() => void (idp.faults = {}));
    const send = (token: string, instance = 0) =>
      service.instances[instance]!.http.send(PATH, { form: { logout_token: token } });
    const isSignedIn = async (browser: BrowserSession) => (await browser.open('/account')).status === 200;

    it('ends the session with its sid only, and says 200 without a body that anybody keeps', async () => {
      const [one, two] = [await logIn('ada', { sid: 'session-1' }), await logIn('ada', { sid: 'session-2' })];
      const answer = await send(await idp.logoutToken({ sid: 'session-1' }));
      expect([answer.status, answer.text, answer.headers.get('cache-control')]).toEqual([
        200,
        '',
        'no-store',
      ]);
      expect([await isSignedIn(one), await isSignedIn(two)]).toEqual([false, true]);
    });

    it('ends every session of its sub, and no other', async () => {
      const [one, two, other] = [await logIn('bea', { sid: 'a' }), await logIn('bea'), await logIn('cem')];
      expect((await send(await idp.logoutToken({ sub: 'bea' }), 1)).status).toBe(200);
      expect([await isSignedIn(one), await isSignedIn(two), await isSignedIn(other)]).toEqual([
        false,
        false,
        true,
      ]);
    });

    it('ends the session also after the password was changed in it, and so does Log out, at the provider', async () => {
      const { id, email } = await service.make.user();
      const [before] = await service.database.query<{ password_hash: string }>(
        'SELECT password_hash FROM users WHERE id = $1',
        [id],
      );
      const change = async (browser: BrowserSession, from: string, to: string): Promise<void> => {
        const fields = { current_password: from, password: to, password_again: to };
        const page = await browser.open('/account/password');
        expect((await browser.submit(page, '/account/password', fields)).status).toBe(303);
      };
      const one = await logIn('dia', { sid: 'session-3', email });
      // The first login there ended the password that the account had.
      await service.database.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
        id,
        before!.password_hash,
      ]);
      await change(one, PASSWORD, OTHER_PASSWORD);
      expect(leadsTo(await one.submit(await one.open('/account'), '/logout'))).toContain(`${idp.url}/end?`);
      const two = await logIn('dia', { sid: 'session-4', email });
      await change(two, OTHER_PASSWORD, PASSWORD);
      expect(await isSignedIn(two)).toBe(true);
      expect((await send(await idp.logoutToken({ sid: 'session-4' }))).status).toBe(200);
      expect(await isSignedIn(two)).toBe(false);
    });

    it.each([
      ['its sid', 'eda', 'session-5', { sid: 'session-5' }],
      ['its sub', 'eva', 'session-6', { sub: 'eva' }],
    ])('ends by %s also a session that gets a new id meanwhile', async (_name, sub, sid, claims) => {
      await logIn(sub, { sid });
      // What happens when its user authenticates again: the account is locked, and the session replaced.
      const again = `WITH held AS (
          UPDATE users SET updated_at = now() FROM sessions s
           WHERE s.provider_sid = $1 AND users.id = s.user_id RETURNING s.*
        ), ended AS (DELETE FROM sessions USING held WHERE sessions.digest = held.digest)
        INSERT INTO sessions (digest, user_id, method, provider, provider_subject, provider_sid, expires_at)
        SELECT sha256(digest), user_id, method, provider, provider_subject, provider_sid, expires_at FROM held`;
      const token = await idp.logoutToken(claims);
      const [answer] = await whileHeld(service, [again, [sid]], [() => send(token)], 'COMMIT');
      expect(answer!.status).toBe(200);
      const left = await service.database.query('SELECT 1 FROM sessions WHERE provider_sid = $1', [sid]);
      expect(left).toEqual([]);
    });

    it('does not end a session with a password', async () => {
      const browser = await service.make.signedIn(await service.make.user());
      expect((await send(await idp.logoutToken({ sub: 'nobody' }))).status).toBe(200);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('works once, also on two instances at once', async () => {
      const token = await idp.logoutToken({ sub: 'ada' });
      const answers = await Promise.all([send(token, 0), send(token, 1)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
      expect((await send(token)).status).toBe(400);
    });

    const now = Math.floor(Date.now() / 1000);
    const left = madeOnce(() => logIn('left'));
    it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
      ['another issuer', { iss: 'https://other.example' }],
      ['another audience', { aud: 'another-client' }],
      ['neither sid nor sub', { sub: undefined }],
      ['a nonce', { nonce: 'n' }],
      ['no event', { events: {} }],
      ['events that are a list', { events: ['http://schemas.openid.net/event/backchannel-logout'] }],
      ['no jti', { jti: undefined }],
      ['no iat', { iat: undefined }],
      ['an exp that has passed', { iat: now - 500, exp: now - 400 }],
      ['an iat of long ago', { iat: now - 3600, exp: now + 3600 }],
      ['an iat to come', { iat: now + 3600, exp: now + 7200 }],
      ['another type', {}, { typ: 'at+jwt' }],
    ])('is refused with %s', async (...[, claims, header]) => {
      const answer = await send(await idp.logoutToken({ sub: 'left', ...claims }, header));
      expect([answer.status, answer.json.error, answer.headers.get('cache-control')]).toEqual([
        400,
        'invalid_request',
        'no-store',
      ]);
      expect(await isSignedIn(left)).toBe(true);
    });

    it('is refused when it is not a token, is sent twice, or is not there', async () => {
      expect((await send('garbage')).status).toBe(400);
      const twice: [string, string][] = Array.from({ length: 2 }, () => ['logout_token', 'a.b.c']);
      expect((await service.http.send(PATH, { form: twice })).status).toBe(400);
      expect((await service.http.send(PATH, { form: {} })).status).toBe(400);
      expect((await service.http.send(PATH, { json: { logout_token: 'a' } })).status).toBe(415);
      expect((await service.http.send(`${PATH}x`, { form: { logout_token: 'a' } })).status).toBe(404);
    });

    it('is accepted once, whichever of the two addresses it is sent to', async () => {
      const token = await idp.logoutToken({ sub: 'ada' });
      const answers = [];
      for (const id of ['staff', 'company', 'staff']) {
        const at = `/login/backchannel_logout/${id}`;
        answers.push((await service.http.send(at, { form: { logout_token: token } })).status);
      }
      expect(answers).toEqual([200, 400, 400]);
    });

    /** Reads discovery and keys again at the next token. */
    const forget = (): void => {
      const clients = service.app.get(ProviderClients, { strict: false });
      for (const each of clients.providers) clients.forget(each);
    };

    describe('without exp', () => {
      it.each<[string, Record<string, unknown>]>([
        ['without iat', { iat: undefined }],
        ['with an iat of more than 10 minutes ago', { iat: now - 11 * 60 }],
        ['with an iat to come', { iat: now + 10 * 60 }],
        ['without jti', { jti: undefined }],
      ])('is refused %s', async (_name, claims) => {
        const answer = await send(await idp.logoutToken({ sub: 'ada', exp: undefined, ...claims }));
        expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
      });

      it('is accepted once', async () => {
        const token = await idp.logoutToken({ sub: 'ada', exp: undefined });
        expect((await send(token)).status).toBe(200);
        expect((await send(token)).status).toBe(400);
      });
    });

    describe('signed with a key that is unknown here', () => {
      const byUnknownKey = () => idp.logoutToken({ sub: 'ada' }, { kid: 'unknown' });

      it('is refused if the keys have just been read for it', async () => {
        forget();
        const answer = await send(await byUnknownKey());
        expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
      });

      it('is to be sent again, if the keys may not be read again yet', async () => {
        forget();
        expect((await send(await idp.logoutToken({ sub: 'ada' }))).status).toBe(200);
        const read = () => idp.requests.filter((each) => each === 'GET /jwks').length;
        const before = read();
        const answer = await send(await byUnknownKey());
        expect([answer.status, answer.json.error, answer.headers.get('retry-after')]).toEqual([
          503,
          'temporarily_unavailable',
          '30',
        ]);
        expect(read()).toBe(before);
      });

      it('does not use up its jti until it is accepted', async () => {
        forget();
        expect((await send(await idp.logoutToken({ sub: 'ada' }))).status).toBe(200);
        await idp.rotateKeys();
        const token = await idp.logoutToken({ sub: 'ada' });
        expect((await send(token)).status).toBe(503);
        forget();
        expect((await send(token)).status).toBe(200);
      });
    });

    it.each<[string, string, { status: number; body: string; headers?: Record<string, string> }]>([
      ['cannot be read', '/jwks', { status: 503, body: '{}' }],
      ['are refused for a while', '/jwks', { status: 429, body: '{}' }],
      [
        'are a page of a proxy',
        '/jwks',
        { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
      ],
      ['are elsewhere', '/jwks', { status: 302, body: '', headers: { location: 'https://other.example' } }],
    ])('is to be sent again if the keys %s', async (_name, path, answer) => {
      forget();
      idp.faults = { answers: { [path]: answer } };
      const refused = await send(await idp.logoutToken({ sub: 'ada' }));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    });
  });
});
