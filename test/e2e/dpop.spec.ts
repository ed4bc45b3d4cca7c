import { ActivityService } from '#records/activity/activity.service.js';
import { refusalMessage } from '#entrypoints/admin/console/clients/operator-refusal-messages.js';
import { newKey, type AssertionChanges } from '../support/client-keys.js';
import { boundToken, proofOf, thumbprintOf, tokenWith, withBound } from '../support/dpop.js';
import { madeOnce } from '../support/made.js';
import { credentialsOf, expectOAuthError, isAccepted } from '../support/oauth.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';
import type { Answer } from '../support/http.js';
import { startInstance, useSharedService, type TestInstance } from '../support/test-service.js';

const service = useSharedService({ instances: 2 });

const keys = madeOnce(async () => ({
  es: await newKey('ES256'),
  ps: await newKey('PS256'),
  ed: await newKey('EdDSA'),
  other: await newKey('ES256'),
}));
const client = madeOnce(() => service.make.client());

const TOKEN_PATH = '/o/token';
const proof = (changes: AssertionChanges = {}, key = keys.es) =>
  proofOf(key, 'POST', `${service.url}${TOKEN_PATH}`, changes);
const askWith = (dpop: string, at: TestInstance = service.instances[0]!) =>
  at.http.send(TOKEN_PATH, {
    form: { grant_type: 'client_credentials' },
    basic: client,
    headers: { dpop },
  });
const now = () => Math.floor(Date.now() / 1000);

/** The counted reasons why the client was refused. */
async function reasonsOf(id: string): Promise<string[]> {
  for (const instance of service.instances) await instance.app.get(ActivityService).flush();
  const rows = await service.database.query<{ kind: 'token_refused' | 'bearer_refused'; detail: string }>(
    "SELECT kind, detail FROM activity_hours WHERE client_id = $1 AND kind IN ('token_refused', 'bearer_refused')",
    [id],
  );
  for (const { kind, detail } of rows) expect(refusalMessage(kind, detail).help).not.toBe('');
  return rows.map(({ detail }) => detail);
}

/** What is wrong with a proof, wherever it is sent. */
const WRONG: [what: string, reason: string, changes: () => AssertionChanges][] = [
  ['of another type', 'proof_malformed', () => ({ header: { typ: 'JWT' } })],
  ['without a type', 'proof_malformed', () => ({ header: { typ: undefined } })],
  ['that needs an extension', 'proof_malformed', () => ({ header: { crit: ['b64'], b64: true } })],
  ['without a key', 'proof_key', () => ({ header: { jwk: undefined } })],
  ['with a private key', 'proof_key', () => ({ header: { jwk: keys.es.privateJwk } })],
  ['with a key of another kind', 'proof_key', () => ({ header: { jwk: keys.ed.publicJwk } })],
  ['with the key of another', 'proof_signature', () => ({ header: { jwk: keys.other.publicJwk } })],
  ['without a jti', 'proof_malformed', () => ({ claims: { jti: undefined } })],
  ['with a jti that is too long', 'proof_malformed', () => ({ claims: { jti: 'x'.repeat(257) } })],
  ['without a method', 'proof_of_another_request', () => ({ claims: { htm: undefined } })],
  ['for another method', 'proof_of_another_request', () => ({ claims: { htm: 'PUT' } })],
  ['without a URL', 'proof_of_another_request', () => ({ claims: { htu: undefined } })],
  ['for another URL', 'proof_of_another_request', () => ({ claims: { htu: `${service.url}/o/tokens` } })],
  ['for another host', 'proof_of_another_request', () => ({ claims: { htu: 'https://a.example/o/token' } })],
  ['without a time', 'proof_time', () => ({ claims: { iat: undefined } })],
  ['that is too old', 'proof_time', () => ({ claims: { iat: now() - 310 } })],
  ['of the future', 'proof_time', () => ({ claims: { iat: now() + 30 } })],
];

describe('A proof is refused at the token endpoint', () => {
  it.each(WRONG)('%s', async (_what, reason, changes) => {
    expectOAuthError(await askWith(await proof(changes())), 400, 'invalid_dpop_proof');
    expect(await reasonsOf(client.id)).toContain(reason);
  });

  it.each(['', 'x', 'a.b.c', '..', 'eyJhbGciOiJFUzI1NiJ9..'])('that is no signed JWT: %s', async (text) => {
    expectOAuthError(await askWith(text), 400, 'invalid_dpop_proof');
  });

  it('with an algorithm that is not allowed', async () => {
    const rsa = await newKey('RS256');
    expectOAuthError(await askWith(await proof({}, rsa)), 400, 'invalid_dpop_proof');
  });

  it('in two headers', async () => {
    const headers = {
      Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
      DPoP: await proof(),
      dpop: await proof(),
    };
    const sent = rawRequest(`POST ${TOKEN_PATH}`, headers, 'grant_type=client_credentials');
    const answer = await sendRaw(service.url, sent);
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([400, 'invalid_dpop_proof']);
  });

  it('when it was used before, at any instance, also at the same time', async () => {
    const text = await proof();
    const [first, second] = service.instances;
    const answers = await Promise.all([first!, second!, first!, second!].map((at) => askWith(text, at)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expectOAuthError(await askWith(text, second), 400, 'invalid_dpop_proof');
    expect(await reasonsOf(client.id)).toContain('proof_used');
    // Another key may have chosen the same jti.
    const claims = { jti: 'the same' };
    expect((await askWith(await proof({ claims }))).status).toBe(200);
    expect((await askWith(await proof({ claims }, keys.ed))).status).toBe(200);
  });

  it('that is missing, where the client has to send one', async () => {
    const bank = await service.make.client({ dpopBoundAccessTokens: true });
    const form = { grant_type: 'client_credentials', ...credentialsOf(bank) };
    expectOAuthError(await service.http.token(form), 400, 'invalid_dpop_proof');
    expect(await reasonsOf(bank.id)).toEqual(['proof_missing']);
    expect((await tokenWith(service.http, keys.es, form)).json.token_type).toBe('DPoP');
  });
});

describe('A token', () => {
  it('is bound to the key of the proof, of every kind, and to none without one', async () => {
    for (const key of [keys.es, keys.ps, keys.ed]) {
      const answer = await askWith(await proof({}, key));
      expect(answer.json).toMatchObject({ token_type: 'DPoP', expires_in: 36_000 });
      const served = await withBound(service.http, answer.json.access_token as string, key);
      expect(served.status).toBe(200);
    }
    const plain = await service.http.token({ grant_type: 'client_credentials' }, client);
    expect(plain.json.token_type).toBe('Bearer');
    expect(await isAccepted(service.http, plain.json.access_token as string)).toBe(true);
  });

  it('is requested with a URL that is the same once it is normalised', async () => {
    const upper = service.url.replace('http', 'HTTP').replace('localhost', 'LOCALHOST');
    for (const htu of [`${upper}/o/./token`, `${service.url}/o/%74oken?a=b#c`]) {
      expect((await askWith(await proof({ claims: { htu } }))).status).toBe(200);
    }
  });
});

describe('An access token that is bound', () => {
  const token = madeOnce(async () => ({ is: await boundToken(service.http, client, keys.es) }));
  const refusedAs = (answer: Answer, error: string) => {
    expect(answer.status).toBe(401);
    expect(Object.keys(answer.json as object).sort()).toEqual(['detail', 'status', 'title']);
    expect(answer.headers.get('www-authenticate')).toMatch(
      new RegExp(`^DPoP algs="PS256 ES256 EdDSA", error="${error}", error_description="[^"]+"$`),
    );
  };

  it.each(WRONG)('is refused with a proof %s', async (_what, reason, changes) => {
    refusedAs(await withBound(service.http, token.is, keys.es, { changes: changes() }), 'invalid_dpop_proof');
    expect(await reasonsOf(client.id)).toContain(reason);
  });

  it('is refused with a proof for another token, or for none', async () => {
    for (const ath of [undefined, 'x', await thumbprintOf(keys.es)]) {
      const answer = await withBound(service.http, token.is, keys.es, { changes: { claims: { ath } } });
      refusedAs(answer, 'invalid_dpop_proof');
    }
    expect(await reasonsOf(client.id)).toContain('proof_of_another_token');
  });

  it('is refused with a proof of another key, and without one', async () => {
    refusedAs(await withBound(service.http, token.is, keys.other), 'invalid_dpop_proof');
    refusedAs(
      await service.http.get('/v2/users', { headers: { authorization: `DPoP ${token.is}` } }),
      'invalid_dpop_proof',
    );
    expect(await reasonsOf(client.id)).toEqual(
      expect.arrayContaining(['proof_of_another_key', 'proof_missing']),
    );
  });

  it('is refused as Bearer, also with a proof', async () => {
    const dpop = await proofOf(keys.es, 'GET', `${service.url}/v2/users`, {}, token.is);
    const answer = await service.http.get('/v2/users', { bearer: token.is, headers: { dpop } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="[^"]+", error="invalid_token"/);
    expect(await reasonsOf(client.id)).toContain('token_bound');
  });

  it('is refused at its second use with one proof, at any instance', async () => {
    const [first, second] = service.instances;
    const text = await proofOf(keys.es, 'GET', `${service.url}/v2/users`, {}, token.is);
    const answers = await Promise.all(
      [first!, second!, first!, second!].map(({ http }) =>
        withBound(http, token.is, keys.es, { proof: text }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    refusedAs(await withBound(second!.http, token.is, keys.es, { proof: text }), 'invalid_dpop_proof');
  });

  it('that has ended is invalid_token, and so is one that is not bound', async () => {
    const ended = await boundToken(service.http, client, keys.es);
    const form = { ...credentialsOf(client), token: ended };
    expect((await service.http.send('/o/revoke_token/', { form })).status).toBe(200);
    refusedAs(await withBound(service.http, ended, keys.es), 'invalid_token');
    const free = await service.make.clientToken(client);
    refusedAs(await withBound(service.http, free, keys.es), 'invalid_token');
    expect(await reasonsOf(client.id)).toContain('token_not_bound');
  });

  it('is introspected with its key, without a proof of it', async () => {
    const inspector = await service.make.operatorClient(['token:introspect']);
    const ask = (token: string) => service.http.send('/o/introspect/', { basic: inspector, form: { token } });
    const jkt = await thumbprintOf(keys.es);
    expect((await ask(token.is)).json).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt } });
    const plain = (await ask(await service.make.clientToken(client))).json as object;
    expect(plain).toMatchObject({ active: true, token_type: 'Bearer' });
    expect(plain).not.toHaveProperty('cnf');
    // Who asks with a bound token of its own has to prove it.
    const own = await boundToken(service.http, inspector, keys.ed);
    const options = { method: 'POST', path: '/o/introspect/', form: { token: token.is } };
    expect((await withBound(service.http, own, keys.ed, options)).json).toMatchObject({ active: true });
    expectOAuthError(await withBound(service.http, own, keys.es, options), 401, 'invalid_dpop_proof');
    const { form, path } = options;
    expectOAuthError(await service.http.send(path, { form, bearer: own }), 401, 'invalid_token');
  });
});

describe('A request for data', () => {
  it('without credentials gets the challenges of both schemes, and no error', async () => {
    const answer = await service.http.get('/v2/users');
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", DPoP algs="PS256 ES256 EdDSA"$/,
    );
  });

  it('with two Authorization headers is 400', async () => {
    const token = await service.make.clientToken(client);
    const twice = { Authorization: `Bearer ${token}`, authorization: `Bearer ${token}` };
    const answer = await sendRaw(service.url, rawRequest('GET /v2/users', twice));
    expect([answer.status, JSON.parse(answer.text).title]).toEqual([400, 'Bad request']);
  });
});

describe('With DPOP_NONCE', () => {
  const strict = madeOnce(() =>
    startInstance(service.database, { DPOP_NONCE: 'true', BASE_URL: service.url }),
  );
  afterAll(() => strict.app.close());
  const nonceIn = (answer: Answer): string => {
    const nonce = answer.headers.get('dpop-nonce');
    expect(nonce).toMatch(/^[A-Za-z0-9_-]{43}$/);
    return nonce!;
  };

  it('a proof without a nonce, or with another one, is answered with the one to use, and not used up', async () => {
    const text = await proof();
    for (const dpop of [
      text,
      text,
      await proof({ claims: { nonce: 'x' } }),
      await proof({ claims: { nonce: 7 } }),
    ]) {
      const answer = await askWith(dpop, strict);
      expectOAuthError(answer, 400, 'use_dpop_nonce');
      nonceIn(answer);
    }
    const nonce = nonceIn(await askWith(text, strict));
    const served = await askWith(await proof({ claims: { nonce } }), strict);
    expect([served.status, served.headers.get('dpop-nonce')]).toEqual([200, null]);
    const token = served.json.access_token as string;
    const url = `${service.url}/v2/users`;
    const dpop = await proofOf(keys.es, 'GET', url, {}, token);
    const refused = await withBound(strict.http, token, keys.es, { proof: dpop });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="use_dpop_nonce"');
    expect(nonceIn(refused)).toBe(nonce);
    const again = await proofOf(keys.es, 'GET', url, { claims: { nonce } }, token);
    expect((await withBound(strict.http, token, keys.es, { proof: again })).status).toBe(200);
  });
});
