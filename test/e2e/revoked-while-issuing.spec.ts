import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { authorizePath, BrowserSession } from '../support/browser-session.js';
import { consentedCode } from '../support/codes.js';
import { madeForEach, PATIENT, REDIRECT_URI, until, useSharedService } from '../support/spec.js';
import { credentialsOf, exchange, expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { whileHeld } from '../support/held-rows.js';
import { waitingForLocks } from '../support/locks.js';

/*
 * Something is issued at the very moment when what it depends on ends. A trigger holds the issuing statement after it has checked
 * that everything is live, until the ending has completed or waits for a lock itself.
 */
const GATE = 4711;

const service = useSharedService({ databaseOptions: PATIENT });
const owner = madeForEach(() => service.make.user());
const user = madeForEach(() => service.make.user());
const client = madeForEach(() => service.make.client({ ownerId: owner.id }));

beforeAll(async () => {
  await service.database.query(`
    CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END $$;
    CREATE TRIGGER gate BEFORE INSERT ON grants FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
    CREATE TRIGGER gate_of_rotation BEFORE UPDATE ON grants FOR EACH ROW
      WHEN (OLD.generation <> NEW.generation) EXECUTE FUNCTION wait_at_gate();
    CREATE TRIGGER gate BEFORE INSERT ON authorization_codes FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
    CREATE TRIGGER gate BEFORE INSERT ON portal_links FOR EACH ROW EXECUTE FUNCTION wait_at_gate();
    CREATE TRIGGER gate BEFORE INSERT ON portal_sessions FOR EACH ROW EXECUTE FUNCTION wait_at_gate();`);
});
afterAll(() => service.database.query('DROP FUNCTION wait_at_gate CASCADE'));

/** Runs both so that the ending comes while the issuing statement is held at the gate. Returns what was issued. */
async function amid<T>(issue: () => Promise<T>, end: () => Promise<unknown>): Promise<T> {
  await service.database.query('SELECT pg_advisory_lock($1)', [GATE]);
  let issuing: Promise<T> | undefined;
  let ending: Promise<unknown> | undefined;
  try {
    issuing = issue();
    await until(
      'the issuing statement is at the gate',
      async () => (await waitingForLocks(service.database)) >= 1,
    );
    let ended = false;
    ending = end().finally(() => (ended = true));
    await until(
      'the ending is done or waits too',
      async () => ended || (await waitingForLocks(service.database)) >= 2,
    );
  } finally {
    await service.database.query('SELECT pg_advisory_unlock($1)', [GATE]);
    await Promise.allSettled([issuing, ending]);
  }
  await ending;
  return issuing;
}

const setClient = (enabled: boolean) => service.make.updateClient(client, { enabled });
const setUser = (of: UserEntity, enabled: boolean) => service.make.updateUser(of, { enabled });
const revokeConsent = () => service.make.revokeConsent(client, user);

type Ending = [name: string, end: () => Promise<unknown>, undo: () => Promise<unknown>];
const CLIENT_DISABLED: Ending = ['the client is disabled', () => setClient(false), () => setClient(true)];
const OWNER_DISABLED: Ending = [
  'its owner is disabled',
  () => setUser(owner, false),
  () => setUser(owner, true),
];
const USER_DISABLED: Ending = ['the user is disabled', () => setUser(user, false), () => setUser(user, true)];
const CONSENT_REVOKED: Ending = [
  'the consent is revoked',
  revokeConsent,
  () => service.make.consent(client, user),
];
const TOKENS_REVOKED: Ending = [
  "the client's tokens are revoked",
  () => service.make.revokeTokens(client),
  async () => undefined,
];

const SECRET_ROTATED: Ending = [
  "the client's secret is rotated without an overlap",
  () => service.make.rotateSecret(client),
  async () => undefined,
];
const setWebhooks = (webhooksEnabled: boolean) => service.make.updateUser(owner, { webhooksEnabled });
const WEBHOOKS_OFF: Ending = ['webhooks are switched off', () => setWebhooks(false), () => setWebhooks(true)];

it.each([CLIENT_DISABLED, OWNER_DISABLED, TOKENS_REVOKED])(
  'a client-credentials token that is being issued is not accepted after %s',
  async (_name, end, undo) => {
    const form = { grant_type: 'client_credentials', ...credentialsOf(client) };
    // Issuing it runs no statement that could be held, so the code is held after it has seen that the client is live.
    const keys = service.app.get(TokenKeysService);
    const key = await keys.signing();
    let seen = () => {};
    const looked = new Promise<void>((resolve) => (seen = resolve));
    let goOn = () => {};
    const ended = new Promise<void>((resolve) => (goOn = resolve));
    const held = jest.spyOn(keys, 'signing').mockImplementation(async () => {
      seen();
      await ended;
      return key;
    });
    const issuing = service.http.token(form);
    await looked;
    held.mockRestore();
    await end();
    goOn();
    const answer = await issuing;
    expect(answer.status).toBe(200);
    await undo();
    expect(await isAccepted(service.http, answer.json.access_token as string)).toBe(false);
  },
);

it.each([CLIENT_DISABLED, USER_DISABLED, CONSENT_REVOKED, TOKENS_REVOKED])(
  'tokens that a code is being exchanged for are not accepted after %s',
  async (_name, end, undo) => {
    const code = await consentedCode(service, client.id, user.id);
    const { json, status } = await amid(() => exchange(service.http, client, code), end);
    await undo();
    if (status !== 200) return;
    expect(await isAccepted(service.http, json.access_token as string)).toBe(false);
    expectOAuthError(await refresh(service.http, client, json.refresh_token as string), 400, 'invalid_grant');
  },
);

it.each([CLIENT_DISABLED, USER_DISABLED, CONSENT_REVOKED, TOKENS_REVOKED])(
  'tokens that a refresh is issuing are not accepted after %s',
  async (_name, end, undo) => {
    const first = await service.make.tokens(client, user);
    const { json, status } = await amid(() => refresh(service.http, client, first.refresh_token), end);
    await undo();
    if (status !== 200) return;
    expect(await isAccepted(service.http, json.access_token as string)).toBe(false);
    expectOAuthError(await refresh(service.http, client, json.refresh_token as string), 400, 'invalid_grant');
  },
);

it.each([CLIENT_DISABLED, USER_DISABLED, TOKENS_REVOKED])(
  'a code that is being issued is not accepted after %s',
  async (_name, end, undo) => {
    const browser = await service.make.signedIn(user);
    const page = await browser.open(
      authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI }),
    );
    const answer = await amid(() => browser.submit(page, '/o/authorize/', { decision: 'authorize' }), end);
    await undo();
    expect([303, 400]).toContain(answer.status);
    const code = new URL(answer.headers.get('location') ?? REDIRECT_URI).searchParams.get('code');
    if (code) expectOAuthError(await exchange(service.http, client, code), 400, 'invalid_grant');
  },
);

it.each([CLIENT_DISABLED, OWNER_DISABLED, TOKENS_REVOKED, SECRET_ROTATED, WEBHOOKS_OFF])(
  'a portal link that is being issued does not open after %s',
  async (_name, end, undo) => {
    const bearer = await service.make.clientToken(client);
    const answer = await amid(() => service.http.get('/webhook_portal', { bearer }), end);
    await undo();
    if (answer.status !== 200) return;
    expect((await service.http.get(new URL(answer.json.url as string).pathname)).status).toBe(410);
  },
);

it.each([CLIENT_DISABLED, OWNER_DISABLED, TOKENS_REVOKED, SECRET_ROTATED, WEBHOOKS_OFF])(
  'a portal session that is being started does not continue after %s',
  async (_name, end, undo) => {
    const bearer = await service.make.clientToken(client);
    const { json } = await service.http.get('/webhook_portal', { bearer });
    const path = new URL(json.url as string).pathname;
    const browser = new BrowserSession(service.url);
    const page = await browser.open(path);
    await amid(() => browser.submit(page, path), end);
    await undo();
    expect((await browser.open('/portal')).status).toBe(401);
  },
);

it("an owner's portal link that is being issued does not open after the owner's consent is revoked", async () => {
  const { access_token } = await service.make.tokens(client, owner);
  const answer = await amid(
    () => service.http.get('/webhook_portal', { bearer: access_token }),
    () => service.make.revokeConsent(client, owner),
  );
  await service.make.consent(client, owner);
  if (answer.status !== 200) return;
  expect((await service.http.get(new URL(answer.json.url as string).pathname)).status).toBe(410);
});

describe('A consent that is being given when the client becomes a gatekeeper is not stored:', () => {
  const REQUEST = () => ({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
  const whileItBecomesOne = async <T>(give: () => Promise<T>): Promise<T> => {
    const becoming = 'UPDATE clients SET gatekeeper = true WHERE id = $1';
    const [answer] = await whileHeld(service, [becoming, [client.id]], [give], 'COMMIT');
    return answer!;
  };
  const given = () =>
    service.database.query<{ scopes: string[] }>(
      'SELECT scopes FROM consents WHERE client_id = $1 AND user_id = $2 AND revoked_at IS NULL',
      [client.id, user.id],
    );

  it('by its user', async () => {
    const browser = await service.make.signedIn(user);
    const page = await browser.open(authorizePath(REQUEST()));
    const answer = await whileItBecomesOne(() =>
      browser.submit(page, '/o/authorize/', { decision: 'authorize' }),
    );
    expect(answer.headers.get('location') ?? '').not.toContain('code=');
    expect(await given()).toEqual([]);
  });

  it('by an operator', async () => {
    const bearer = await service.make.adminToken();
    const answer = await whileItBecomesOne(() =>
      service.http.send(`/admin/clients/${client.id}/consents/${user.id}`, {
        method: 'PUT',
        bearer,
        json: { scopes: ['vehicle:read'] },
      }),
    );
    expect([answer.status, await given()]).toEqual([409, []]);
  });
});
