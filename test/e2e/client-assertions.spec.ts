import { createHmac } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { ActivityService } from '#records/activity/activity.service.js';
import { refusalMessage } from '#entrypoints/admin/console/clients/operator-refusal-messages.js';
import {
  assertionOf,
  byAssertion,
  clientWithKeys,
  newKey,
  type AssertionChanges,
} from '../support/client-keys.js';
import { changesRead } from '../support/changes-read.js';
import { putClockForward } from '../support/clock.js';
import { madeOnce } from '../support/made.js';
import { expectOAuthError, isAccepted } from '../support/oauth.js';
import { Receiver } from '../support/receiver.js';
import { useSharedService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import type { TestInstance } from '../support/test-service.js';

const service = useSharedService({ instances: 2, env: WEBHOOK_ENV });

const keys = madeOnce(async () => ({
  es: await newKey('ES256'),
  ps: await newKey('PS256'),
  ed: await newKey('EdDSA'),
  other: await newKey('ES256'),
}));
const client = madeOnce(async () => clientWithKeys(service, [keys.es, keys.ps, keys.ed]));

const assertion = (changes: AssertionChanges = {}, key = keys.es, id = client.id) =>
  assertionOf(key, id, service.url, changes);
const ask = (form: Record<string, string | undefined>, at: TestInstance = service.instances[0]!) =>
  at.http.token({ grant_type: 'client_credentials', ...form });
const askWith = async (changes: AssertionChanges) => ask(byAssertion(await assertion(changes)));

/** The counted reasons why the client was refused. */
async function reasonsOf(id: string): Promise<string[]> {
  for (const { app } of service.instances) await app.get(ActivityService).flush();
  const rows = await service.database.query<{ detail: string }>(
    "SELECT detail FROM activity_hours WHERE client_id = $1 AND kind = 'token_refused'",
    [id],
  );
  return rows.map(({ detail }) => detail);
}

const ahead = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

describe('An assertion is refused', () => {
  it.each<[what: string, reason: string, changes: () => AssertionChanges]>([
    ['for a list with the issuer', 'assertion_audience', () => ({ claims: { aud: [service.url] } })],
    ['for the token endpoint', 'assertion_audience', () => ({ claims: { aud: `${service.url}/o/token` } })],
    ['for nobody', 'assertion_audience', () => ({ claims: { aud: undefined } })],
    ['without an end', 'assertion_times', () => ({ claims: { exp: undefined } })],
    ['with an end that is a text', 'assertion_times', () => ({ claims: { exp: '9' } })],
    ['that has expired', 'assertion_expired', () => ({ claims: { exp: ahead(-30) } })],
    ['that ends in more than 10 minutes', 'assertion_times', () => ({ claims: { exp: ahead(700) } })],
    ['issued in the future', 'assertion_times', () => ({ claims: { iat: ahead(120) } })],
    ['not valid yet', 'assertion_times', () => ({ claims: { nbf: ahead(120) } })],
    ['without a jti', 'assertion_without_id', () => ({ claims: { jti: undefined } })],
    ['with a jti that is too long', 'assertion_without_id', () => ({ claims: { jti: 'x'.repeat(257) } })],
    ['of a key that is not registered', 'assertion_key_unknown', () => ({ header: { kid: 'another' } })],
  ])('%s', async (_what, reason, changes) => {
    expectOAuthError(await askWith(changes()), 401, 'invalid_client');
    expect(await reasonsOf(client.id)).toContain(reason);
    expect(refusalMessage('token_refused', reason)).toMatchObject({ status: '401 invalid_client' });
  });

  it.each<[what: string, changes: () => AssertionChanges]>([
    ['with another issuer', () => ({ claims: { iss: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735' } })],
    ['about something that is no client', () => ({ claims: { iss: 7, sub: 7 } })],
    ['about nobody', () => ({ claims: { iss: undefined, sub: undefined } })],
    ['that needs an extension', () => ({ header: { crit: ['b64'], b64: true } })],
  ])('%s, which says nothing about a client', async (_what, changes) => {
    const before = await reasonsOf(client.id);
    expectOAuthError(await askWith(changes()), 401, 'invalid_client');
    expect(await reasonsOf(client.id)).toEqual(before);
  });

  it('of another key under a registered name, and with an algorithm that is not allowed', async () => {
    const forged = await assertion({}, { ...keys.other, kid: keys.es.kid });
    expectOAuthError(await ask(byAssertion(forged)), 401, 'invalid_client');
    expect(await reasonsOf(client.id)).toContain('assertion_signature');
    const claims = { iss: client.id, sub: client.id, aud: service.url, exp: ahead(60), jti: 'x' };
    const bySecret = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' });
    const rsa = await newKey('RS256');
    const byRsa = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: keys.ps.kid });
    const unsigned = new UnsecuredJWT(claims).encode();
    const publicKey = createHmac('sha256', JSON.stringify(keys.es.publicJwk)).digest();
    for (const text of [await bySecret.sign(publicKey), await byRsa.sign(rsa.privateKey), unsigned]) {
      expectOAuthError(await ask(byAssertion(text)), 401, 'invalid_client');
    }
    expect(await reasonsOf(client.id)).toContain('assertion_algorithm');
  });

  it('of a client that has a secret, or none', async () => {
    const withSecret = await service.make.client();
    const app = await service.make.client({ type: 'public' });
    for (const { id } of [withSecret, app]) {
      const text = await assertion({}, keys.es, id);
      expectOAuthError(await ask(byAssertion(text)), 401, 'invalid_client');
      expect(await reasonsOf(id)).toEqual(['assertion_of_client_with_secret']);
    }
  });

  it('together with something else that authenticates, or incomplete', async () => {
    const text = await assertion();
    const form = byAssertion(text);
    expectOAuthError(await ask({ ...form, client_secret: 'x' }), 400, 'invalid_request');
    const basic = { id: client.id, secret: 'x' };
    expectOAuthError(
      await service.http.token({ grant_type: 'client_credentials', ...form }, basic),
      400,
      'invalid_request',
    );
    expectOAuthError(await ask({ client_assertion: text }), 400, 'invalid_request');
    const { client_assertion_type } = form;
    expectOAuthError(await ask({ client_id: client.id, client_assertion_type }), 400, 'invalid_request');
    const another = { ...form, client_assertion_type: `${client_assertion_type}x` };
    expectOAuthError(await ask(another), 401, 'invalid_client');
    expectOAuthError(
      await ask({ ...form, client_id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735' }),
      401,
      'invalid_client',
    );
    // Nothing of this has used it up.
    expect((await ask({ ...form, client_id: client.id })).status).toBe(200);
  });

  it.each(['x', 'a.b', 'a.b.c', '..', 'eyJhbGciOiJFUzI1NiJ9..', '☀', 'x'.repeat(20_000)])(
    'that is no signed JWT: %.20s',
    async (text) => expectOAuthError(await ask(byAssertion(text)), 401, 'invalid_client'),
  );

  it('of a disabled client', async () => {
    const disabled = await clientWithKeys(service, [keys.es]);
    await service.make.updateClient(disabled, { enabled: false });
    expectOAuthError(
      await ask(byAssertion(await assertion({}, keys.es, disabled.id))),
      401,
      'invalid_client',
    );
  });

  it('when it was used before, at any instance, also at the same time', async () => {
    const text = byAssertion(await assertion());
    const [first, second] = service.instances;
    const answers = await Promise.all([first!, second!, first!, second!].map((at) => ask(text, at)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    expectOAuthError(await ask(text, second), 401, 'invalid_client');
    expect(await reasonsOf(client.id)).toContain('assertion_used');
  });
});

describe('An assertion', () => {
  it('authenticates a client at every endpoint, with each algorithm, with a name of its key and without', async () => {
    for (const key of [keys.es, keys.ps, keys.ed]) {
      for (const header of [{}, { kid: undefined }]) {
        const answer = await ask(byAssertion(await assertion({ header }, key)));
        expect([key.alg, answer.status]).toEqual([key.alg, 200]);
      }
    }
    const revoke = { token: 'x', ...byAssertion(await assertion()) };
    expect((await service.http.send('/o/revoke_token/', { form: revoke })).status).toBe(200);
    const reader = await clientWithKeys(service, [keys.es], {
      ...{ scopes: ['token:introspect'], grantTypes: ['client_credentials'] },
      ...{ redirectUris: [], companyService: true },
    });
    const introspect = { token: 'x', ...byAssertion(await assertion({}, keys.es, reader.id)) };
    expect((await service.http.send('/o/introspect/', { form: introspect })).json).toEqual({ active: false });
  });

  it('may be signed by a clock that is a little ahead, and end in 10 minutes', async () => {
    const claims = { iat: ahead(10), nbf: ahead(10), exp: ahead(590) };
    expect((await askWith({ claims })).status).toBe(200);
  });
});

describe('Stock libraries authenticate with a key', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  it.each(['ES256', 'PS256', 'EdDSA'])('oauth4webapi, with %s', async (alg) => {
    const key = await newKey(alg);
    const { id } = await clientWithKeys(service, [key]);
    const issuer = new URL(service.url);
    const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, discovery);
    const authentication = oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.kid });
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      { client_id: id },
      authentication,
      new URLSearchParams(),
      insecure,
    );
    const tokens = await oauth.processClientCredentialsResponse(server, { client_id: id }, answer);
    expect(tokens.token_type).toBe('bearer');
  });

  it('openid-client, which also revokes', async () => {
    const authentication = openid.PrivateKeyJwt({ key: keys.es.privateKey, kid: keys.es.kid });
    const config = await openid.discovery(new URL(service.url), client.id, undefined, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    const { access_token } = await openid.clientCredentialsGrant(config);
    expect(await isAccepted(service.http, access_token)).toBe(true);
    await openid.tokenRevocation(config, access_token);
    expect(await isAccepted(service.http, access_token)).toBe(false);
  });
});

describe('The keys at an address', () => {
  let answer: { status: number; body: string; location?: string };
  const receiver = Receiver.setUp((response) => {
    response.writeHead(answer.status, answer.location ? { location: answer.location } : {});
    response.end(answer.body);
  });
  const served = (...given: { publicJwk: object }[]) => {
    answer = { status: 200, body: JSON.stringify({ keys: given.map(({ publicJwk }) => publicJwk) }) };
  };
  const remote = async () => clientWithKeys(service, [], { jwksUri: receiver.url(`/jwks/${Math.random()}`) });
  const statusOf = async (id: string, key = keys.es) =>
    (await ask(byAssertion(await assertion({}, key, id)))).status;

  it('are fetched once, and again for a key that is not known, every 10 seconds at most', async () => {
    served(keys.es);
    const { id } = await remote();
    const fetched = () => receiver.requests.length;
    const before = fetched();
    expect([await statusOf(id), await statusOf(id), fetched() - before]).toEqual([200, 200, 1]);
    served(keys.other);
    expect([await statusOf(id, keys.other), fetched() - before]).toEqual([401, 1]);
    putClockForward(10);
    await changesRead(service);
    expect([await statusOf(id, keys.other), await statusOf(id), fetched() - before]).toEqual([200, 401, 2]);
  });

  it('count for an hour if they cannot be had, and then the answer is 401', async () => {
    served(keys.es);
    const { id } = await remote();
    expect(await statusOf(id)).toBe(200);
    answer = { status: 500, body: '' };
    putClockForward(50 * 60);
    // The time of assertions is that of the database, which is read again.
    await changesRead(service);
    expect(await statusOf(id)).toBe(200);
    putClockForward(11 * 60);
    await changesRead(service);
    expectOAuthError(await ask(byAssertion(await assertion({}, keys.es, id))), 401, 'invalid_client');
    expect(await reasonsOf(id)).toContain('assertion_keys_unavailable');
  });

  it.each<[what: string, answer: () => typeof answer]>([
    ['a redirect', () => ({ status: 302, body: '', location: receiver.url('/elsewhere') })],
    ['more than 64 kB', () => ({ status: 200, body: `{"keys":[],"x":"${'x'.repeat(70_000)}"}` })],
    ['no JSON', () => ({ status: 200, body: '<html>' })],
    ['no set of keys', () => ({ status: 200, body: '{"keys":{}}' })],
    ['nothing', () => ({ status: 200, body: 'null' })],
    ['a private key', () => ({ status: 200, body: JSON.stringify({ keys: [keys.es.privateJwk] }) })],
  ])('are not taken from %s', async (_what, given) => {
    answer = given();
    expect(await statusOf((await remote()).id)).toBe(401);
  });
});
