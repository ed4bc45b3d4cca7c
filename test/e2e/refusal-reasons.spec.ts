import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { refusalMessage } from '#entrypoints/admin/console/clients/operator-refusal-messages.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { type Answer, authorizePath, madeForEach, madeOnce, useSharedService } from '../support/spec.js';
import { newPkce, REDIRECT_URI, type TestClient, type Tokens } from '../support/factory.js';
import { credentialsOf, exchange, expectOAuthError, refresh, revoke } from '../support/oauth.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { changeGrant, endGrace, strangeToken } from '../support/tokens.js';

const service = useSharedService();
let user: UserEntity;

const client = madeForEach(() => service.make.client());
const other = madeOnce(() => service.make.client());
// The end of a consent is set by a test, and comes with it.
beforeAll(() => leaveOutSchedule(service, ConsentExpiryService));
beforeEach(async () => (user = await service.make.user()));

const query = <T = unknown>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);

/** Returns the counted reasons why the client was refused. */
async function reasonsOf(of: TestClient): Promise<string[]> {
  await service.app.get(ActivityService).flush();
  const rows = await query<{ detail: string }>(
    "SELECT detail FROM activity_hours WHERE client_id = $1 AND kind = 'token_refused' ORDER BY last_at",
    [of.id],
  );
  return rows.map(({ detail }) => detail);
}

/** Expects this answer for the client, and a reason that the console explains to operators in its own words. */
async function expectReason(
  answer: Answer,
  reason: string,
  words: RegExp,
  error = 'invalid_grant',
): Promise<void> {
  expectOAuthError(answer, 400, error);
  expect([reason, answer.json.error_description]).toEqual([reason, expect.stringMatching(words)]);
  expect(await reasonsOf(client)).toContain(reason);
  expect(refusalMessage('token_refused', reason)).toMatchObject({
    status: `400 ${error}`,
    help: expect.stringMatching(/\w/) as string,
  });
}

describe('Before authentication, a client learns nothing', () => {
  it.each(['authorization_code', 'refresh_token'])('about the validity of a %s', async (grant_type) => {
    const { refresh_token } = await service.make.tokens(client, user);
    const code = await service.make.code(client, user);
    const told = new Set<string>();
    const about = { grant_type, client_id: client.id, redirect_uri: REDIRECT_URI };
    for (const [client_secret, sent] of [
      ['x'.repeat(40), { code, refresh_token }],
      ['x'.repeat(40), { code: 'x', refresh_token: 'x' }],
      [undefined, { code, refresh_token }],
    ] as const) {
      const answer = await service.http.token({ ...about, client_secret, ...sent });
      expectOAuthError(answer, 401, 'invalid_client');
      told.add(answer.text);
    }
    expect(told.size).toBe(1);
  });
});

describe('About the code or token of another client, a client learns only what it learns about an unknown one, for', () => {
  it('a code', async () => {
    const stolen = await exchange(service.http, client, await service.make.code(other, user));
    const unknown = await exchange(service.http, client, newSecret('authorizationCode'));
    expect(stolen.text).toBe(unknown.text);
    await expectReason(stolen, 'code_of_another_client', /unknown/);
    await expectReason(unknown, 'code_unknown', /unknown/);
  });

  it('a used code with any redirect URI and verifier', async () => {
    const code = await service.make.code(other, user);
    expect((await exchange(service.http, other, code)).status).toBe(200);
    const unknown = await exchange(service.http, client, newSecret('authorizationCode'));
    for (const fields of [
      {},
      { redirect_uri: 'https://elsewhere.example/' },
      { code_verifier: newPkce().verifier },
    ])
      expect((await exchange(service.http, client, code, fields)).text).toBe(unknown.text);
  });

  it('a refresh token that is live, retired or revoked', async () => {
    const unknown = await refresh(service.http, client, strangeToken('refresh'));
    await expectReason(unknown, 'refresh_token_unknown', /unknown/);
    const { refresh_token } = await service.make.tokens(other, user);
    expect((await refresh(service.http, client, refresh_token)).text).toBe(unknown.text);
    expect(await reasonsOf(client)).toContain('refresh_token_of_another_client');
    await refresh(service.http, other, refresh_token);
    expect((await refresh(service.http, client, refresh_token)).text).toBe(unknown.text);
    await revoke(service.http, other, refresh_token);
    expect((await refresh(service.http, client, refresh_token)).text).toBe(unknown.text);
  });
});

describe('About its own code, a client learns', () => {
  it('that it is malformed', async () => {
    for (const code of ['x', newSecret('authorizationCode').slice(0, -1), strangeToken('refresh')])
      await expectReason(await exchange(service.http, client, code), 'code_malformed', /malformed/);
  });

  it('that it was issued for another redirect URI', async () => {
    const code = await service.make.code(client, user);
    const answer = await exchange(service.http, client, code, { redirect_uri: `${REDIRECT_URI}/` });
    await expectReason(answer, 'redirect_uri_mismatch', /different redirect_uri/);
  });

  it('that its verifier is missing, wrong or unexpected', async () => {
    const code = await service.make.code(client, user, { pkce: newPkce() });
    const missing = await exchange(service.http, client, code);
    await expectReason(missing, 'verifier_missing', /code_verifier is missing/);
    const wrong = await exchange(service.http, client, code, { code_verifier: newPkce().verifier });
    await expectReason(wrong, 'verifier_wrong', /does not match/);
    const plain = await service.make.code(client, user);
    const answer = await exchange(service.http, client, plain, { code_verifier: newPkce().verifier });
    await expectReason(answer, 'verifier_unexpected', /without a code_challenge/, 'invalid_request');
  });

  it('that it has expired', async () => {
    const code = await service.make.code(client, user);
    await query('UPDATE authorization_codes SET expires_at = now() WHERE client_id = $1', [client.id]);
    await expectReason(await exchange(service.http, client, code), 'code_expired', /expired/);
  });

  it('that it was used, even in all but one of several concurrent exchanges', async () => {
    const code = await service.make.code(client, user);
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(service.http, client, code)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    for (const answer of refused) await expectReason(answer, 'code_used', /already used/);
  });

  it('that it was revoked, if the consent ends during the exchange', async () => {
    const code = await service.make.code(client, user);
    // The code outlives the consent for a moment, as if the consent had ended between the read and the write.
    await query('UPDATE consents SET revoked_at = now() WHERE client_id = $1', [client.id]);
    await expectReason(await exchange(service.http, client, code), 'code_revoked', /revoked/);
  });
});

describe('About its own refresh token, a client learns', () => {
  let tokens: Tokens;
  beforeEach(async () => (tokens = await service.make.tokens(client, user)));
  const again = (fields = {}) => refresh(service.http, client, tokens.refresh_token, fields);

  it('that it is malformed', async () => {
    const answer = await refresh(service.http, client, tokens.access_token);
    await expectReason(answer, 'refresh_token_malformed', /malformed/);
  });

  it('that it has expired', async () => {
    await changeGrant(service, tokens.refresh_token, 'refresh_expires_at = now()');
    await expectReason(await again(), 'refresh_token_expired', /refresh token has expired/);
  });

  it('that its grant has expired', async () => {
    await query('UPDATE grants SET expires_at = now() WHERE client_id = $1', [client.id]);
    await expectReason(await again(), 'grant_ended', /grant .* ended/);
  });

  it('that its grant has expired with the consent, which operators are told', async () => {
    await query('UPDATE consents SET expires_at = now() WHERE client_id = $1', [client.id]);
    await expectReason(await again(), 'grant_ended', /grant .* ended/);
    await service.app.get(ConsentExpiryService).run();
    expect(refusalMessage('token_refused', 'grant_ended').help).toContain('with the consent');
  });

  it('that it was used and, after the grace time, that its grant is revoked because of that', async () => {
    const next = (await again()).json as Tokens;
    await refresh(service.http, client, next.refresh_token);
    await expectReason(await again(), 'refresh_token_used', /use the one that replaced it/);
    await endGrace(service, tokens.refresh_token);
    await expectReason(await again(), 'refresh_token_replayed', /Every token .* revoked/);
  });

  it('that it was revoked, but not whether by the client, by an operator, by the user or together with the user', async () => {
    const users = service.app.get(UsersService);
    const told = new Set<string>();
    for (const end of [
      () => revoke(service.http, client, tokens.refresh_token),
      () => service.app.get(ConsentsService).revoke(client.id, user.id, SERVICE_ACTOR),
      () => users.update(user.id, { password: 'another long password' }, SERVICE_ACTOR),
      () => users.update(user.id, { enabled: false }, SERVICE_ACTOR),
    ]) {
      user = await service.make.user();
      tokens = await service.make.tokens(client, user);
      await end();
      const answer = await again();
      await expectReason(answer, 'refresh_token_revoked', /was revoked/);
      told.add(answer.text);
    }
    expect(told.size).toBe(1);
  });

  it('that the user has withdrawn the requested scope', async () => {
    await query("UPDATE consents SET scopes = '{vehicle:read}' WHERE client_id = $1", [client.id]);
    const answer = await again({ scope: 'charging_session:read' });
    await expectReason(answer, 'consent_withdrawn', /no longer consents/);
  });

  it('which scope was not granted', async () => {
    const answer = await again({ scope: 'vehicle:read vehicle:write' });
    await expectReason(answer, 'scope_not_granted', /not grant the scope vehicle:write\./, 'invalid_scope');
    await expectReason(await again({ scope: 'a  b' }), 'scope_malformed', /single spaces/, 'invalid_scope');
  });

  it('that it was just used with another scope', async () => {
    await again({ scope: 'vehicle:read' });
    await expectReason(await again(), 'scope_of_another_refresh', /unchanged/, 'invalid_scope');
  });
});

describe('About scopes and grant types, a client learns', () => {
  const ask = (fields: Record<string, string>) => service.http.token({ ...credentialsOf(client), ...fields });
  const scope = (text: string) => ask({ grant_type: 'client_credentials', scope: text });

  it('which scope it is not registered for', async () => {
    const answer = await scope('vehicle:read vehicle:wirte admin:read');
    await expectReason(answer, 'scope_not_registered', /for the scope vehicle:wirte\./, 'invalid_scope');
    await expectReason(await scope(' vehicle:read'), 'scope_malformed', /single spaces/, 'invalid_scope');
  });

  it.each(['<script>alert(1)</script>', '%22quoted', 'DROP', 'x'.repeat(65), "'--"])(
    'that a scope name is invalid, without an echo of the name: %s',
    async (name) => {
      const answer = await scope(`vehicle:read ${name}`);
      await expectReason(answer, 'scope_not_registered', /a scope with an invalid name/, 'invalid_scope');
      expect(answer.text).not.toContain(name);
    },
  );

  it('that it is not registered for the grant type, or that its owner is disabled', async () => {
    const { app } = service;
    await app.get(ClientsService).update(client.id, { grantTypes: ['authorization_code'] }, SERVICE_ACTOR);
    const grant = await scope('vehicle:read');
    await expectReason(grant, 'grant_type_not_registered', /not registered/, 'unauthorized_client');
    await app.get(ClientsService).update(client.id, { grantTypes: ['client_credentials'] }, SERVICE_ACTOR);
    await app.get(UsersService).update(client.ownerId, { enabled: false }, SERVICE_ACTOR);
    await expectReason(await scope('vehicle:read'), 'owner_disabled', /owner/, 'unauthorized_client');
  });

  it('which parameter is missing or repeated', async () => {
    for (const [form, words] of [
      [{}, /grant_type is required/],
      [{ grant_type: 'authorization_code' }, /parameter code is required/],
      [{ grant_type: 'authorization_code', code: 'x' }, /redirect_uri is required/],
      [{ grant_type: 'refresh_token' }, /refresh_token is required/],
    ] as const) {
      const answer = await ask(form);
      expectOAuthError(answer, 400, 'invalid_request');
      expect(answer.json.error_description).toMatch(words);
    }
    const repeated = (name: string) =>
      service.http.send('/o/token', {
        form: [...Object.entries(credentialsOf(client)), [name, 'x'], [name, 'x']] as [string, string][],
      });
    expect((await repeated('scope')).json).toEqual({
      error: 'invalid_request',
      error_description: 'The parameter scope was sent more than once.',
    });
    // What is not ours is ignored, however often it is sent.
    expect((await repeated('<script>')).json.error_description).toBe('The parameter grant_type is required.');
  });
});

describe('At the authorization endpoint, a client learns', () => {
  it.each([
    ['scope=vehicle:read+vehicle:wirte', 'The client is not registered for the scope vehicle:wirte.'],
    ['scope=%3Cscript%3E', 'The client is not registered for a scope with an invalid name.'],
    ['scope=a++b', 'The scope must be a list of names separated by single spaces.'],
    ['state=1&state=2', 'The parameter state was sent more than once.'],
  ])('what is wrong with %s', async (parameters, description) => {
    const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
    const answer = await service.http.get(`${authorizePath(request)}&${parameters}`);
    expect(new URL(answer.headers.get('location')!).searchParams.get('error_description')).toBe(description);
  });
});
