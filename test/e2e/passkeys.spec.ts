import { generateKeyPairSync } from 'node:crypto';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, csrfTokenOn, madeOnce, postedAnew } from '../support/spec.js';
import { setUpPasskey } from '../support/factors-without-pages.js';
import { setUpPasskeys } from '../support/passkeys.js';
import {
  answerPasskey,
  givePassword,
  logInWith,
  newBrowserAt,
  openNewPasskey,
  passkeyOptions,
} from '../support/second-factors.js';
import {
  NO_REGISTRATIONS,
  SoftwarePasskey,
  WRONG_REGISTRATIONS,
  type Tampering,
} from '../support/software-passkey.js';

const REFUSED = {
  status: 403,
  title: 'Forbidden',
  detail: 'This passkey does not log you in here. Try again, or log in with your password.',
};

describe('A passkey', () => {
  const own = setUpPasskeys(2);
  const { service, add, passkeys, actions } = own;
  let { user } = own;
  beforeEach(() => void ({ user } = own));
  const endChallenges = () =>
    service.database.query("UPDATE webauthn_challenges SET expires_at = now() - interval '1 second'");
  const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

  it('logs its user in by itself, and leads where the browser wanted to go', async () => {
    const { passkey } = await add();
    const browser = newBrowserAt(service);
    const lastUsed = async (by: BrowserSession) => {
      const facts = (await by.open('/account/security')).html.querySelectorAll('dt');
      return facts.find(({ text }) => text === 'Last used')!.nextElementSibling!.text;
    };
    expect(await lastUsed(await service.make.signedIn(user))).toBe('Not yet');
    const answer = await logInWith(passkey, browser, {}, '/account/sessions');
    expect([answer.status, answer.json]).toEqual([200, { location: '/account/sessions' }]);
    expect((await browser.open('/account')).text).toContain(user.email);
    expect(await lastUsed(browser)).toMatch(/ UTC$/);
    expect(await passkeys()).toEqual([
      {
        id: expect.any(String) as string,
        name: 'My key',
        sign_count: '0',
        last_used_at: expect.any(Date) as Date,
      },
    ]);
    const [session] = await service.database.query<{ method: string }>(
      'SELECT method FROM sessions WHERE user_id = $1 ORDER BY created_at DESC LIMIT 1',
      [user.id],
    );
    expect(session).toEqual({ method: 'passkey' });
  });

  it('ignores an address outside of this service to return to', async () => {
    const { passkey } = await add();
    const answer = await logInWith(passkey, newBrowserAt(service), {}, '//evil.example');
    expect(answer.json).toEqual({ location: '/account' });
  });

  it('of an account without an app leaves the password alone as a way in', async () => {
    await add();
    expect((await givePassword(newBrowserAt(service), user)).headers.get('location')).toBe('/account');
  });

  it('is asked of the browser as one that needs no email address, verifies its user, and is not made twice', async () => {
    const browser = await service.make.signedIn(user);
    const passkey = await setUpPasskey(service, browser);
    const { options } = await openNewPasskey(browser);
    expect(options).toMatchObject({
      rp: { id: '127.0.0.1' },
      user: { id: Buffer.from(user.id).toString('base64url') },
      excludeCredentials: [{ id: passkey.credentialId, transports: ['usb'] }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const login = await passkeyOptions(newBrowserAt(service));
    expect(login).toMatchObject({ rpId: '127.0.0.1', userVerification: 'required' });
    expect(JSON.stringify(login)).not.toContain(passkey.credentialId);
  });

  describe('is not added', () => {
    it.each(WRONG_REGISTRATIONS)('%s', async (_how, tampering) => {
      const { options, send } = await openNewPasskey(await service.make.signedIn(user));
      const answer = await send(new SoftwarePasskey(service.url).create(options, tampering));
      expect([answer.status, answer.html.querySelector('.notice-error')!.text]).toEqual([
        400,
        'The passkey was not added, because your browser’s answer was not right. Try again.',
      ]);
      expect(await passkeys()).toEqual([]);
    });

    it('from what is no answer', async () => {
      const browser = await service.make.signedIn(user);
      for (const response of ['', ...NO_REGISTRATIONS]) {
        const { send } = await openNewPasskey(browser);
        expect([response, (await send(response)).status]).toEqual([response, 400]);
      }
      expect(await passkeys()).toEqual([]);
    });

    it('twice with one answer, not even at the same time on two instances', async () => {
      const browser = await service.make.signedIn(user);
      const { options, page } = await openNewPasskey(browser);
      const response = new SoftwarePasskey(service.url).create(options);
      const csrf_token = csrfTokenOn(page, '/account/security/passkeys/new');
      const answers = await Promise.all(
        service.instances.map(({ url }) => {
          const each = new BrowserSession(url);
          browser.cookies.forEach((value, name) => each.cookies.set(name, value));
          const form = { csrf_token, response, name: 'My key', ...postedAnew() };
          return each.open('/account/security/passkeys/new', { form, headers: { origin: service.url } });
        }),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
      expect((await passkeys()).length).toBe(1);
    });

    it('with the challenge of another user, nor with that of a login', async () => {
      const other = await openNewPasskey(await service.make.signedIn(await service.make.user()));
      const { send } = await openNewPasskey(await service.make.signedIn(user));
      expect((await send(new SoftwarePasskey(service.url).create(other.options))).status).toBe(400);
      const browser = await service.make.signedIn(user);
      const mine = await openNewPasskey(browser);
      const login = await passkeyOptions(browser);
      browser.cookies.set('cds_passkey_new', browser.cookies.get('cds_passkey_sign_in')!);
      const response = new SoftwarePasskey(service.url).create({ ...mine.options, ...login });
      expect((await mine.send(response)).status).toBe(400);
      expect(await passkeys()).toEqual([]);
    });

    it('if it belongs to an account already', async () => {
      const { passkey } = await add();
      const { options, send } = await openNewPasskey(await service.make.signedIn(await service.make.user()));
      expect((await send(passkey.create(options))).status).toBe(400);
      expect((await logInWith(passkey, newBrowserAt(service), { userHandle: userHandle() })).status).toBe(
        200,
      );
    });

    it('after five minutes', async () => {
      const { options, send } = await openNewPasskey(await service.make.signedIn(user));
      await endChallenges();
      expect((await send(new SoftwarePasskey(service.url).create(options))).status).toBe(400);
    });

    it('beyond twenty', async () => {
      await add();
      await service.database.query(
        `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, transports, name, backed_up)
         SELECT 'pkey' || n, user_id, 'x' || n, public_key, 0, '{}', name, false FROM passkeys, generate_series(2, 20) n
          WHERE user_id = $1`,
        [user.id],
      );
      const { options, send } = await openNewPasskey(await service.make.signedIn(user));
      expect((await send(new SoftwarePasskey(service.url).create(options))).status).toBe(409);
      await service.database.query('DELETE FROM passkeys WHERE user_id = $1', [user.id]);
    });

    it('under a name that is missing, too long or has hidden characters', async () => {
      const browser = await service.make.signedIn(user);
      for (const name of ['', '   ', 'x'.repeat(101), 'a\u202eb']) {
        const { options, send } = await openNewPasskey(browser);
        const answer = await send(new SoftwarePasskey(service.url).create(options), name);
        expect([answer.status, answer.html.querySelector('#name-error') !== null]).toEqual([400, true]);
      }
    });
  });

  const userHandle = () => Buffer.from(user.id).toString('base64url');

  describe('does not log in', () => {
    const TAMPERED: [string, () => Tampering][] = [
      ...WRONG_REGISTRATIONS.filter(([, { type }]) => !type).map(
        ([how, tampering]): [string, () => Tampering] => [how, () => tampering],
      ),
      ['from the same host at another port', () => ({ origin: 'http://127.0.0.1:1' })],
      ['with the answer of a registration', () => ({ type: 'webauthn.create' })],
      ['with a signature of another key', () => ({ signedBy: otherKey })],
      [
        'as another user',
        () => ({ userHandle: Buffer.from('user01HN2NJ9NMRZBXT1H6FT9N7735').toString('base64url') }),
      ],
      ['without saying whose it is', () => ({ userHandle: undefined })],
      ['under an unknown id', () => ({ credentialId: 'AAAA' })],
    ];

    const passkeyOfSomeone = madeOnce(async () => setUpPasskey(service, await service.make.signedInNew()));
    it.each(TAMPERED)('%s', async (_how, tampering) => {
      const browser = newBrowserAt(service);
      const answer = await logInWith(passkeyOfSomeone, browser, tampering());
      expect([answer.status, answer.json]).toEqual([403, REFUSED]);
      expect([...browser.cookies.keys()]).toEqual([]);
    });

    it('under the id of the passkey of another user', async () => {
      const { passkey } = await add();
      const victim = await service.make.user();
      const other = await setUpPasskey(service, await service.make.signedIn(victim));
      const userHandle = Buffer.from(victim.id).toString('base64url');
      const tampering = { credentialId: other.credentialId, userHandle };
      expect((await logInWith(passkey, newBrowserAt(service), tampering)).status).toBe(403);
    });

    it('with an answer that was used, nor after a wrong answer to the same challenge', async () => {
      const { passkey } = await add();
      const browser = newBrowserAt(service);
      const options = await passkeyOptions(browser);
      const cookie = browser.cookies.get('cds_passkey_sign_in')!;
      const response = passkey.get(options);
      expect((await answerPasskey(browser, response)).status).toBe(200);
      const thief = newBrowserAt(service);
      thief.cookies.set('cds_passkey_sign_in', cookie);
      expect((await answerPasskey(thief, response)).status).toBe(403);

      const another = newBrowserAt(service);
      const next = await passkeyOptions(another);
      const kept = another.cookies.get('cds_passkey_sign_in')!;
      await answerPasskey(another, passkey.get(next, { signedBy: otherKey }));
      another.cookies.set('cds_passkey_sign_in', kept);
      expect((await answerPasskey(another, passkey.get(next))).status).toBe(403);
    });

    it('with one answer twice at the same time, on two instances', async () => {
      const { passkey } = await add();
      const browser = newBrowserAt(service);
      const response = passkey.get(await passkeyOptions(browser));
      const answers = await Promise.all(
        service.instances.map((instance) => {
          const each = newBrowserAt(instance);
          each.cookies.set('cds_passkey_sign_in', browser.cookies.get('cds_passkey_sign_in')!);
          return answerPasskey(each, response);
        }),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
    });

    it('in another browser than the one that asked', async () => {
      const { passkey } = await add();
      const asking = newBrowserAt(service);
      const response = passkey.get(await passkeyOptions(asking));
      const other = newBrowserAt(service);
      expect((await answerPasskey(other, response)).status).toBe(403);
      await passkeyOptions(other);
      expect((await answerPasskey(other, response)).status).toBe(403);
      expect((await answerPasskey(asking, response)).status).toBe(200);
    });

    it('after five minutes', async () => {
      const { passkey } = await add();
      const browser = newBrowserAt(service);
      const response = passkey.get(await passkeyOptions(browser));
      await endChallenges();
      expect((await answerPasskey(browser, response)).status).toBe(403);
    });

    it('to a disabled account', async () => {
      const { passkey } = await add();
      await service.app.get(UsersService).update(user.id, { enabled: false }, SERVICE_ACTOR);
      const answer = await logInWith(passkey, newBrowserAt(service));
      expect([answer.status, answer.json]).toEqual([403, REFUSED]);
    });

    it('with a counter that does not go up, which the audit log says', async () => {
      const { passkey } = await add({ counts: true });
      expect((await logInWith(passkey, newBrowserAt(service))).status).toBe(200);
      expect((await logInWith(passkey, newBrowserAt(service))).status).toBe(200);
      for (const counter of [2, 1, 0]) {
        expect((await logInWith(passkey, newBrowserAt(service), { counter })).status).toBe(403);
        expect((await actions()).slice(-2).sort()).toEqual(['session.refused', 'user.passkey_refused']);
      }
      expect((await passkeys())[0]!.sign_count).toBe('2');
      passkey.counter = 9;
      expect((await logInWith(passkey, newBrowserAt(service))).status).toBe(200);
    });

    it.each([
      ['no JSON object', { json: [] }, 400],
      ['no response', { json: {} }, 400],
      ['an empty response', { json: { response: {} } }, 403],
      ['a form', { form: { response: '{}' } }, 415],
      ['plain text', { body: '{}', headers: { 'content-type': 'text/plain' } }, 415],
      [
        'a request of another site',
        { json: { response: {} }, headers: { origin: 'https://evil.example' } },
        403,
      ],
    ])('with %s', async (_what, options, status) => {
      const answer = await newBrowserAt(service).open('/login/passkey', { method: 'POST', ...options });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        status,
        'application/problem+json; charset=utf-8',
      ]);
    });
  });
});
