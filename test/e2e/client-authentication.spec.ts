import { digestOf } from '#platform/secrets/tokens.js';
import type { TestClient } from '../support/factory.js';
import { basicHeader, type Answer } from '../support/http.js';
import { madeOnce } from '../support/made.js';
import { credentialsOf, expectOAuthError } from '../support/oauth.js';
import { useSharedService } from '../support/test-service.js';

const ODD_SECRET = 'with:colons 100% a+b&c=d "quoted" grün ☀ 𝛑';

const ENDPOINTS: [path: string, fields: Record<string, string>][] = [
  ['/o/token', { grant_type: 'client_credentials' }],
  ['/o/revoke_token/', { token: 'anything' }],
  ['/o/introspect/', { token: 'anything' }],
];

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');

const service = useSharedService();

const client = madeOnce(() => service.make.operatorClient(['token:introspect']));
const other = madeOnce(() => service.make.operatorClient(['token:introspect']));
const publicClient = madeOnce(() => service.make.client({ type: 'public' }));

/** Stores a secret for the client directly in the database. */
async function addSecret(secret: string, expiresIn?: string): Promise<void> {
  await service.database.query(
    'INSERT INTO client_secrets (client_id, digest, expires_at) VALUES ($1, $2, now() + $3::interval)',
    [client.id, digestOf(secret), expiresIn ?? null],
  );
}

const update = (target: TestClient, enabled: boolean) => service.make.updateClient(target, { enabled });

describe.each(ENDPOINTS)('Client authentication at %s', (path, fields) => {
  const inBody = (more: Record<string, string | undefined>) =>
    service.http.send(path, { form: { ...fields, ...more } });
  const byHeader = (authorization: string, more: Record<string, string> = {}) =>
    service.http.send(path, { form: { ...fields, ...more }, headers: { authorization } });
  const byBasic = (id: string, secret: string, more: Record<string, string> = {}) =>
    byHeader(basicHeader({ id, secret }), more);

  it.each<[what: string, request: () => Promise<Answer>, status: 400 | 401]>([
    ['a request without a client', () => inBody({}), 401],
    ['a secret without a client', () => inBody({ client_secret: client.secret }), 401],
    ['a confidential client that does not authenticate', () => inBody({ client_id: client.id }), 401],
    ['an empty secret', () => inBody({ client_id: client.id, client_secret: '' }), 401],
    ['an empty secret by Basic', () => byBasic(client.id, ''), 401],
    [
      'a malformed header even with valid credentials in the body',
      () => byHeader('Basic !!!', { client_id: client.id, client_secret: client.secret }),
      401,
    ],
    [
      'Basic together with both credentials in the body',
      () => byBasic(client.id, client.secret, { client_id: client.id, client_secret: client.secret }),
      400,
    ],
    [
      'Basic together with a client_secret in the body',
      () => byBasic(client.id, client.secret, { client_secret: client.secret }),
      400,
    ],
    [
      'Basic together with another client_id in the body',
      () => byBasic(client.id, client.secret, { client_id: other.id }),
      400,
    ],
  ])('refuses %s', async (_what, request, status) => {
    expectOAuthError(await request(), status, status === 400 ? 'invalid_request' : 'invalid_client');
  });

  it('refuses an unknown client', async () => {
    for (const id of ['clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'no id at all', "' OR 1=1 --", '☀']) {
      expectOAuthError(await inBody({ client_id: id, client_secret: client.secret }), 401, 'invalid_client');
      expectOAuthError(await byBasic(id, client.secret), 401, 'invalid_client');
    }
  });

  it("refuses a wrong secret and another client's secret", async () => {
    for (const secret of [
      `${client.secret}x`,
      client.secret.slice(0, -1),
      other.secret,
      'x'.repeat(10_000),
    ]) {
      expectOAuthError(await inBody({ client_id: client.id, client_secret: secret }), 401, 'invalid_client');
      expectOAuthError(await byBasic(client.id, secret), 401, 'invalid_client');
    }
  });

  it.each([
    ['no credentials', 'Basic'],
    ['invalid base64', 'Basic !!!'],
    ['no colon', `Basic ${base64('clnt01HN2NJ9NMRZBXT1H6FT9N7735')}`],
    ['no id', `Basic ${base64(':secret')}`],
    ['broken percent-encoding', `Basic ${base64('clnt01HN2NJ9NMRZBXT1H6FT9N7735:%zz')}`],
    ['percent-encoded NUL', `Basic ${base64('clnt01HN2NJ9NMRZBXT1H6FT9N7735:%00')}`],
    ['bytes that are not UTF-8', `Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`],
    ['another scheme', `Digest username="x"`],
  ])('refuses a malformed Authorization header: %s', async (_what, header) => {
    expectOAuthError(await byHeader(header), 401, 'invalid_client');
  });

  it('refuses a secret that is sent twice', async () => {
    const pairs = Object.entries({ ...fields, client_id: client.id });
    const answer = await service.http.send(path, {
      form: [...pairs, ['client_secret', client.secret], ['client_secret', client.secret]],
    });
    expectOAuthError(answer, 400, 'invalid_request');
  });

  it('refuses a secret with NUL or broken percent-encoding', async () => {
    for (const secret of ['%00', '%zz', '%ff']) {
      const body = `${new URLSearchParams(fields).toString()}&client_id=${client.id}&client_secret=${secret}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expectOAuthError(await service.http.send(path, { body, headers }), 400, 'invalid_request');
    }
  });

  it('answers 413 with a problem to a secret of 100,000 characters', async () => {
    const answer = await inBody({ client_id: client.id, client_secret: 'x'.repeat(100_000) });
    expect(answer.status).toBe(413);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.json).toMatchObject({ status: 413 });
  });

  it('refuses a disabled client with the same message as an unknown one', async () => {
    const unknown = await inBody({ client_id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', client_secret: 'x' });
    await update(other, false);
    const answer = await inBody(credentialsOf(other));
    const basic = await byBasic(other.id, other.secret);
    await update(other, true);
    expectOAuthError(answer, 401, 'invalid_client');
    expectOAuthError(basic, 401, 'invalid_client');
    expect(answer.text).toBe(unknown.text);
    expect((await inBody(credentialsOf(other))).status).toBe(200);
  });

  it('refuses a secret of a public client, whichever way it is sent', async () => {
    const { id } = publicClient;
    expectOAuthError(await inBody({ client_id: id, client_secret: client.secret }), 401, 'invalid_client');
    expectOAuthError(await byBasic(id, client.secret), 401, 'invalid_client');
  });

  it('accepts Basic with an empty password as the client_id alone', async () => {
    const { id } = publicClient;
    const byId = await inBody({ client_id: id });
    expect(byId.status).not.toBe(401);
    const empty = [await byBasic(id, ''), await byBasic(id, '', { client_id: id })];
    expect(empty.map(({ status, text }) => [status, text])).toEqual(Array(2).fill([byId.status, byId.text]));
    expectOAuthError(await byBasic(id, '', { client_id: other.id }), 400, 'invalid_request');
    expectOAuthError(await byBasic(id, '', { client_secret: 'x' }), 400, 'invalid_request');
    expectOAuthError(await byBasic(client.id, '', { client_id: client.id }), 401, 'invalid_client');
  });

  it('accepts the secret in the body', async () => {
    expect((await inBody(credentialsOf(client))).status).toBe(200);
  });

  it('accepts the secret by Basic, alone and with the same client_id in the body', async () => {
    expect((await byBasic(client.id, client.secret)).status).toBe(200);
    expect((await byBasic(client.id, client.secret, { client_id: client.id })).status).toBe(200);
    expect((await byHeader(`bAsIc ${base64(`${client.id}:${client.secret}`)}`)).status).toBe(200);
  });

  // RFC 9110 §11.4: credentials = auth-scheme [ 1*SP ( token68 / … ) ].
  it('accepts more than one space after the scheme', async () => {
    expect((await byHeader(`Basic   ${base64(`${client.id}:${client.secret}`)}`)).status).toBe(200);
  });

  it('accepts any characters in a secret if form-encoded, and refuses them otherwise', async () => {
    const digest = digestOf(ODD_SECRET);
    await service.database.query('DELETE FROM client_secrets WHERE digest = $1', [digest]);
    await addSecret(ODD_SECRET);
    expect((await byBasic(client.id, ODD_SECRET)).status).toBe(200);
    const percent = encodeURIComponent(ODD_SECRET);
    expect((await byHeader(`Basic ${base64(`${client.id}:${percent}`)}`)).status).toBe(200);
    expect((await inBody({ client_id: client.id, client_secret: ODD_SECRET })).status).toBe(200);
    expectOAuthError(await byHeader(`Basic ${base64(`${client.id}:${ODD_SECRET}`)}`), 401, 'invalid_client');
    const cut = ODD_SECRET.split(':')[0]!;
    expectOAuthError(await byBasic(client.id, cut), 401, 'invalid_client');
  });

  it('accepts the old and the new secret during a rotation, but no expired one', async () => {
    const rotating = await service.make.operatorClient(['token:introspect']);
    const rotated = await service.make.rotateSecret(rotating, 3600);
    const [oldSecret, newSecret] = [rotating.secret, rotated.secret];
    expect((await byBasic(rotating.id, oldSecret)).status).toBe(200);
    expect((await byBasic(rotating.id, newSecret)).status).toBe(200);
    expect((await inBody({ client_id: rotating.id, client_secret: oldSecret })).status).toBe(200);

    await service.database.query(
      'UPDATE client_secrets SET expires_at = now() WHERE client_id = $1 AND digest = $2',
      [rotating.id, digestOf(oldSecret)],
    );
    expectOAuthError(await byBasic(rotating.id, oldSecret), 401, 'invalid_client');
    expectOAuthError(
      await inBody({ client_id: rotating.id, client_secret: oldSecret }),
      401,
      'invalid_client',
    );
    expect((await byBasic(rotating.id, newSecret)).status).toBe(200);
  });
});

describe('Client authentication', () => {
  it('accepts a public client by its id alone at the token and the revocation endpoint', async () => {
    const token = await service.http.token({ grant_type: 'client_credentials', client_id: publicClient.id });
    expectOAuthError(token, 400, 'unauthorized_client');
    const form = { client_id: publicClient.id, token: 'anything' };
    expect((await service.http.send('/o/revoke_token/', { form })).status).toBe(200);
    expectOAuthError(await service.http.send('/o/introspect/', { form }), 403, 'insufficient_scope');
  });

  it('is required for every grant type', async () => {
    for (const grant_type of ['authorization_code', 'refresh_token', 'client_credentials', 'unknown']) {
      const form = { grant_type, client_id: client.id, code: 'x', refresh_token: 'x', redirect_uri: 'x' };
      expectOAuthError(await service.http.token(form), 401, 'invalid_client');
    }
  });

  it('writes no secret into the log', () => {
    const log = service.log.join('');
    expect(log).not.toContain(client.secret);
    expect(log).not.toContain(base64(`${client.id}:${client.secret}`));
    expect(log).not.toContain(ODD_SECRET.slice(0, 20));
  });

  it('stores a secret only as its digest', async () => {
    const rows = await service.database.query<{ row: string; found: boolean }>(
      'SELECT to_jsonb(s)::text AS row, digest = $2 AS found FROM client_secrets s WHERE client_id = $1',
      [client.id, digestOf(client.secret)],
    );
    expect(rows.filter(({ found }) => found)).toHaveLength(1);
    for (const { row } of rows) expect(row).not.toContain(client.secret);
  });
});
