import { hash, randomUUID } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import {
  calculateJwkThumbprint,
  EmbeddedJWK,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose';
import { holdClock, putClockForward } from '../../../../test/support/clock.js';
import { until } from '../../../../test/support/until.js';
import { forwardAuth, type ForwardAuthOptions } from '../../src/forward-auth.js';
import { AccessGuard, AccessRefusal, type GuardedRequest, type GuardOptions } from '../../src/index.js';
import { ReplaysInMemory } from '../../src/replays.js';
import { SERVERS } from '../service/servers.js';
import { active, CLIENT, StandIn, TOKEN, USER } from './stand-in.js';

const RESOURCE = 'https://data.example.com';
const PATH = `/users/${USER}/vehicles`;
const ALGORITHMS = 'algs="PS256 ES256 EdDSA"';
const METADATA = `resource_metadata="${RESOURCE}/.well-known/oauth-protected-resource"`;

/** A key pair as JWKs. */
interface Pair {
  alg: string;
  open: JWK;
  secret: JWK;
  jkt: string;
}

async function pairOf(alg: string): Promise<Pair> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const open = await exportJWK(publicKey);
  return { alg, open, secret: await exportJWK(privateKey), jkt: await calculateJwkThumbprint(open) };
}

let service: StandIn;
let guards: AccessGuard[];
let warnings: string[];
let key: Pair;
let other: Pair;
/** The members of `cnf` in answers of the service. */
let cnf: object | undefined;

beforeAll(async () => void ([key, other] = await Promise.all([pairOf('ES256'), pairOf('ES256')])));
beforeEach(async () => {
  [warnings, guards, cnf] = [[], [], { jkt: key.jkt }];
  service = await StandIn.start();
  service.introspect = (form) => ({
    status: 200,
    body: form.get('token') === 'ended' ? { active: false } : active(cnf === undefined ? {} : { cnf }),
  });
});
afterEach(async () => {
  await Promise.all(guards.map((guard) => guard.close()));
  await service.stop();
});

const optionsWith = (options: Partial<GuardOptions> = {}): GuardOptions => ({
  url: service.url,
  clientId: CLIENT,
  clientSecret: 'cds_cs_the-secret-of-the-guard',
  resource: RESOURCE,
  followChanges: false,
  timeoutMs: 60_000,
  dpop: true,
  onWarning: (message) => warnings.push(message),
  ...options,
});
const make = (options: Partial<GuardOptions> = {}): AccessGuard => {
  const guard = new AccessGuard(optionsWith(options));
  guards.push(guard);
  return guard;
};

interface Made {
  claims?: JWTPayload;
  header?: Record<string, unknown>;
  by?: Pair;
  secret?: JWK | Uint8Array;
}

const now = () => Math.floor(Date.now() / 1000);

/** A proof for the request below, but for what is said. */
const proofWith = ({ claims = {}, header = {}, by = key, secret }: Made = {}): Promise<string> => {
  const payload: JWTPayload = {
    ...{ jti: randomUUID(), htm: 'GET', htu: RESOURCE + PATH, iat: now() },
    ath: hash('sha256', TOKEN, 'base64url'),
    ...claims,
  };
  // What is undefined is left out.
  return new SignJWT(JSON.parse(JSON.stringify(payload)) as JWTPayload)
    .setProtectedHeader({ typ: 'dpop+jwt', alg: by.alg, jwk: by.open, ...header })
    .sign(secret ?? by.secret);
};
const requestWith = (dpop: string | undefined, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  authorization: `DPoP ${TOKEN}`,
  method: 'GET',
  url: PATH,
  dpop,
  ...more,
});
const needs = { scopes: ['vehicle:read'], userId: USER };
const refusalOf = async (
  asked: Promise<unknown>,
): Promise<{ status: number; challenge: string | undefined }> => {
  const error = await asked.then(
    () => new Error('it was not refused'),
    (refused: unknown) => refused,
  );
  if (!(error instanceof AccessRefusal)) throw error;
  return { status: error.status, challenge: error.headers['www-authenticate'] };
};

describe('A guard that takes bound tokens refuses with invalid_dpop_proof', () => {
  it.each<[string, () => Promise<string | undefined> | string | undefined, string]>([
    ['no proof', () => undefined, 'A DPoP proof is required.'],
    [
      'two proofs',
      async () => `${await proofWith()}, ${await proofWith()}`,
      'There must be one DPoP header.',
    ],
    ['no JWT', () => 'proof', 'is no JWT'],
    ['a very long one', () => proofWith({ claims: { more: 'x'.repeat(10_000) } }), 'is no JWT'],
    ['another type', () => proofWith({ header: { typ: 'JWT' } }), 'is no JWT'],
    [
      'a symmetric key',
      () => proofWith({ header: { alg: 'HS256', jwk: { kty: 'oct', k: 'AAAA' } }, secret: Buffer.alloc(32) }),
      'is no JWT',
    ],
    ['an algorithm that is not accepted', async () => proofWith({ by: await pairOf('ES384') }), 'is no JWT'],
    ['a private key in it', () => proofWith({ header: { jwk: key.secret } }), 'is no JWT'],
    ['no key in it', () => proofWith({ header: { jwk: undefined } }), 'is no JWT'],
    ['the signature of another key', () => proofWith({ secret: other.secret }), 'is no JWT'],
    [
      'a changed claim',
      async () => (await proofWith()).replace(/\.[^.]+\./, `.${Buffer.from('{}').toString('base64url')}.`),
      'is no JWT',
    ],
    ['no jti', () => proofWith({ claims: { jti: undefined } }), 'must have a jti'],
    ['a long jti', () => proofWith({ claims: { jti: 'x'.repeat(257) } }), 'must have a jti'],
    ['another method', () => proofWith({ claims: { htm: 'POST' } }), 'The htm'],
    ['a method in lower case', () => proofWith({ claims: { htm: 'get' } }), 'The htm'],
    ['another path', () => proofWith({ claims: { htu: `${RESOURCE}/users` } }), 'The htu'],
    ['another host', () => proofWith({ claims: { htu: `https://other.example.com${PATH}` } }), 'The htu'],
    ['another scheme', () => proofWith({ claims: { htu: `http://data.example.com${PATH}` } }), 'The htu'],
    ['no URL', () => proofWith({ claims: { htu: PATH } }), 'The htu'],
    ['no time', () => proofWith({ claims: { iat: undefined } }), 'The iat'],
    ['an old one', () => proofWith({ claims: { iat: now() - 330 } }), 'The iat'],
    ['one that is to come', () => proofWith({ claims: { iat: now() + 60 } }), 'The iat'],
    ['no digest of the token', () => proofWith({ claims: { ath: undefined } }), 'The ath'],
    [
      'the digest of another token',
      () => proofWith({ claims: { ath: hash('sha256', 'x', 'base64url') } }),
      'The ath',
    ],
    ['another key', () => proofWith({ by: other }), 'is bound to another key'],
  ])('%s', async (_what, proof, words) => {
    const { status, challenge } = await refusalOf(make().authorize(requestWith(await proof()), needs));
    expect(status).toBe(401);
    expect(challenge).toMatch(
      new RegExp(
        `^DPoP ${ALGORITHMS}, error="invalid_dpop_proof", error_description="[^"]*${words}[^"]*", ${METADATA}$`,
      ),
    );
  });

  it('a proof that was used, at once or later', async () => {
    const [guard, proof] = [make(), await proofWith()];
    const asked = await Promise.allSettled([1, 2, 3].map(() => guard.authorize(requestWith(proof), needs)));
    expect(asked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    const { challenge } = await refusalOf(guard.authorize(requestWith(proof), needs));
    expect(challenge).toContain('was used already');
  });

  it('a request whose method it is not told', async () => {
    const { challenge } = await refusalOf(
      make().authorize(requestWith(await proofWith(), { method: undefined }), needs),
    );
    expect(challenge).toContain('error="invalid_dpop_proof"');
  });
});

describe('A guard refuses', () => {
  it.each([[true], [false]])(
    'a bound token that is sent as Bearer, whether it takes bound ones or not: %s',
    async (dpop) => {
      const guard = make({ dpop });
      const { status, challenge } = await refusalOf(
        guard.authorize(requestWith(await proofWith(), { authorization: `Bearer ${TOKEN}` }), needs),
      );
      expect([status, challenge]).toEqual([
        401,
        expect.stringMatching(/^Bearer error="invalid_token", .*bound to a key/),
      ]);
      expect(await guard.scopesFor(TOKEN, USER)).toBeUndefined();
    },
  );

  it('a token that is bound in a way that it does not know', async () => {
    cnf = { 'x5t#S256': 'bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2' };
    for (const scheme of ['Bearer', 'DPoP']) {
      const request = requestWith(await proofWith(), { authorization: `${scheme} ${TOKEN}` });
      expect((await refusalOf(make().authorize(request, needs))).status).toBe(401);
    }
  });

  it('a token that is bound to nothing, or has ended, as DPoP with invalid_token', async () => {
    const ended = make().authorize(requestWith(await proofWith(), { authorization: 'DPoP ended' }), needs);
    const { challenge } = await refusalOf(ended);
    expect(challenge).toContain(`DPoP ${ALGORITHMS}, error="invalid_token"`);
    cnf = undefined;
    const unbound = await refusalOf(make().authorize(requestWith(await proofWith()), needs));
    expect(unbound.challenge).toMatch(/^DPoP .*error="invalid_token".*not bound to a key/);
  });

  it('a request without a token with both schemes and no error, or with Bearer alone where it takes no bound ones', async () => {
    const both = await refusalOf(make().authorize({ authorization: undefined }));
    expect(both).toEqual({ status: 401, challenge: `Bearer ${METADATA}, DPoP ${ALGORITHMS}, ${METADATA}` });
    const guard = make({ dpop: false });
    for (const request of [{ authorization: undefined }, requestWith(await proofWith())])
      expect(await refusalOf(guard.authorize(request))).toEqual({
        status: 401,
        challenge: `Bearer ${METADATA}`,
      });
    expect(service.asked).toEqual([]);
  });

  it('what the scopes do not allow, with the scheme that was used', async () => {
    const { status, challenge } = await refusalOf(
      make().authorize(requestWith(await proofWith()), { scopes: ['other:read'], userId: USER }),
    );
    expect([status, challenge]).toEqual([
      403,
      expect.stringContaining(`DPoP ${ALGORITHMS}, error="insufficient_scope"`),
    ]);
  });
});

describe('A guard that takes bound tokens', () => {
  it.each(['ES256', 'PS256', 'EdDSA', 'Ed25519'])('accepts proofs with %s', async (alg) => {
    const by = await pairOf(alg);
    cnf = { jkt: by.jkt };
    const access = await make().authorize(requestWith(await proofWith({ by })), needs);
    expect(access).toMatchObject({ clientId: CLIENT, jkt: by.jkt });
  });

  it('keeps the key with what it remembers: it asks once, and looks at every proof', async () => {
    const guard = make();
    const goOn = holdClock();
    try {
      for (let n = 0; n < 3; n++) await guard.authorize(requestWith(await proofWith()), needs);
      expect(
        (await refusalOf(guard.authorize(requestWith(await proofWith({ by: other })), needs))).status,
      ).toBe(401);
      const bearer = requestWith(undefined, { authorization: `Bearer ${TOKEN}` });
      expect((await refusalOf(guard.authorize(bearer, needs))).status).toBe(401);
      expect(service.asked).toHaveLength(1);
    } finally {
      goOn();
    }
  });

  it('compares addresses as URLs, without what follows the path', async () => {
    const guard = make({ resource: `${RESOURCE}/data` });
    for (const htu of [
      `HTTPS://DATA.example.com:443${PATH}`,
      `${RESOURCE}${PATH}?a=1#b`,
      RESOURCE + PATH.replace('vehicles', '%76ehicles'),
    ]) {
      const proof = await proofWith({ claims: { htu } });
      expect(await guard.authorize(requestWith(proof, { url: `${PATH}?b=2` }), needs)).toBeDefined();
    }
  });

  it('says so in its metadata', () => {
    expect(make().metadata).toHaveProperty('dpop_signing_alg_values_supported', ['PS256', 'ES256', 'EdDSA']);
    expect(make({ dpop: false }).metadata).not.toHaveProperty('dpop_signing_alg_values_supported');
  });

  it('serves tokens that are bound to nothing as before', async () => {
    cnf = undefined;
    const request = { authorization: `Bearer ${TOKEN}`, url: PATH };
    expect(await make().authorize(request, needs)).not.toHaveProperty('jkt');
  });
});

describe('The proofs that were used', () => {
  it('are known to all processes that share them', async () => {
    const used = new Set<string>();
    const use = (id: string, seconds: number) => {
      expect(seconds).toBeGreaterThan(0);
      return Promise.resolve(!used.has(id) && used.add(id).size > 0);
    };
    const [here, there] = [make({ dpop: { replays: { use } } }), make({ dpop: { replays: { use } } })];
    const proof = await proofWith();
    await here.authorize(requestWith(proof), needs);
    expect((await refusalOf(there.authorize(requestWith(proof), needs))).challenge).toContain(
      'was used already',
    );
    expect([...used].join()).not.toContain(key.jkt);
  });

  it('are not guessed: 503 while they cannot be known', async () => {
    const use = () => Promise.reject(new Error('Redis is away'));
    const { status } = await refusalOf(
      make({ dpop: { replays: { use } } }).authorize(requestWith(await proofWith()), needs),
    );
    expect([status, warnings.join()]).toEqual([503, expect.stringContaining('Redis is away')]);
  });

  it('are forgotten when no proof of that time is accepted any more, and never for want of room', () => {
    const goOn = holdClock();
    try {
      const replays = new ReplaysInMemory(310, 2);
      expect([replays.use('a', 1), replays.use('a', 1), replays.use('b', 300)]).toEqual([true, false, true]);
      expect(() => replays.use('c', 300)).toThrow(AccessRefusal);
      putClockForward(309);
      expect([replays.use('a', 1), replays.use('b', 1)]).toEqual([false, false]);
      putClockForward(2);
      expect([replays.use('c', 300), replays.use('a', 300)]).toEqual([true, true]);
    } finally {
      goOn();
    }
  });
});

describe.each(SERVERS)('On %s', (_name, start) => {
  it('a proof is about the request as it came, and there is one Authorization header', async () => {
    const port = await freePort();
    const base = `http://127.0.0.1:${port}`;
    const server = await start(optionsWith({ resource: base }), port);
    const get = (headers: string[]): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        httpRequest(
          `${base}${PATH}?a=1`,
          { headers: ['host', `127.0.0.1:${port}`, ...headers], agent: false },
          resolve,
        )
          .on('error', reject)
          .end();
      });
    const answered = async (headers: string[]) => {
      const response = await get(headers);
      return [response.statusCode, await json(response)] as const;
    };
    const authorization = ['authorization', `DPoP ${TOKEN}`];
    const proof = () => proofWith({ claims: { htu: base + PATH } });
    try {
      expect(await answered([...authorization, 'dpop', await proof()])).toEqual([
        200,
        expect.objectContaining({ jkt: key.jkt }),
      ]);
      const refused = [
        [...authorization, 'dpop', await proofWith()],
        [...authorization, 'dpop', await proof(), 'dpop', await proof()],
        [...authorization],
      ];
      for (const headers of refused) expect((await answered(headers))[0]).toBe(401);
      expect(
        (await answered([...authorization, 'Authorization', 'Bearer x', 'dpop', await proof()]))[0],
      ).toBe(400);
    } finally {
      await server.stop();
    }
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('For gateways', () => {
  it.each<[ForwardAuthOptions['originalMethod'], string[], number]>([
    [undefined, [], 401],
    ['request', [], 204],
    ['request', ['x-forwarded-method', 'POST'], 204],
    ['x-forwarded-method', ['x-forwarded-method', 'GET'], 204],
    ['x-forwarded-method', ['x-forwarded-method', 'POST'], 401],
    ['x-forwarded-method', [], 401],
  ])(
    'with the method from %s, a proof of GET with %j is answered with %s',
    async (originalMethod, more, status) => {
      const routes = { vehicles: { scopes: ['vehicle:read'], user: '/users/{user}/vehicles' } };
      const server = createServer(forwardAuth(make(), { routes, originalMethod }));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const headers = {
          authorization: `DPoP ${TOKEN}`,
          dpop: await proofWith(),
          ...(more[0] ? { [more[0]]: more[1]! } : {}),
        };
        const answer = await fetch(`http://127.0.0.1:${port}/check/vehicles${PATH}`, { headers });
        expect(answer.status).toBe(status);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
  );
});

describe("With a key, the guard's own tokens", () => {
  interface Seen {
    path: string;
    scheme: string | undefined;
    claims: JWTPayload;
  }

  const seen = async (): Promise<Seen[]> =>
    Promise.all(
      service.requests.map(async ({ url, headers: { dpop, authorization } }) => {
        const { payload, protectedHeader } = await jwtVerify(String(dpop), EmbeddedJWK, { typ: 'dpop+jwt' });
        expect(await calculateJwkThumbprint(protectedHeader.jwk as JWK)).toBe(other.jkt);
        expect(payload.htu).toBe(service.url + url);
        return { path: url!, scheme: authorization?.split(' ')[0], claims: payload };
      }),
    );
  const bound = (options: Partial<GuardOptions> = {}) => {
    service.tokenType = 'DPoP';
    cnf = undefined;
    return make({ dpopKey: other.secret, ...options });
  };

  it('are proven at the token endpoint, the introspection, the feed and the reports; the secret goes to the first alone', async () => {
    const guard = bound({ followChanges: true });
    guard.start();
    await until('it asks for the feed', () => service.feeds.length > 0);
    await guard.authorize({ authorization: `Bearer ${TOKEN}` }, needs);
    await guard.close();
    const ath = hash('sha256', 'cds_at_guard', 'base64url');
    const requests = await seen();
    expect(new Set(requests.map(({ path }) => path))).toEqual(
      new Set(['/o/token', '/o/introspect', '/v2/access_changes', '/v2/disclosures']),
    );
    for (const { path, scheme, claims } of requests) {
      const isToken = path === '/o/token';
      expect([path, scheme, claims.ath]).toEqual([
        path,
        isToken ? 'Basic' : 'DPoP',
        isToken ? undefined : ath,
      ]);
      expect(claims.htm).toBe(path === '/v2/access_changes' ? 'GET' : 'POST');
    }
    expect(new Set(requests.map(({ claims }) => claims.jti)).size).toBe(requests.length);
  });

  it('are proven with the nonce that the service asks for', async () => {
    service.look = ({ url, headers }) => {
      const [, claims] = String(headers.dpop).split('.');
      const { nonce } = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as { nonce?: string };
      if (nonce === 'n') return undefined;
      return { status: url === '/o/token' ? 400 : 401, headers: { 'dpop-nonce': 'n' } };
    };
    const guard = bound({ followChanges: true });
    expect(await guard.authorize({ authorization: `Bearer ${TOKEN}` }, needs)).toBeDefined();
    await until('it asks for the feed', () => service.feeds.length > 0);
    expect(warnings).toEqual([]);
  });

  it('are got anew when they have ended', async () => {
    const guard = bound({ rememberMs: 0 });
    const ask = () => guard.authorize({ authorization: `Bearer ${TOKEN}` }, needs);
    await ask();
    let refusals = 1;
    service.look = ({ url }) =>
      url === '/o/introspect' && refusals-- > 0 ? { status: 401, headers: {} } : undefined;
    await ask();
    expect([service.tokens, warnings]).toEqual([2, []]);
  });

  it('are no others: the guard fails closed where the service does not bind them', async () => {
    const guard = bound();
    service.tokenType = 'Bearer';
    for (let n = 0; n < 5; n++)
      expect((await refusalOf(guard.authorize({ authorization: `Bearer ${n}` }, needs))).status).toBe(503);
    expect([service.asked, warnings.join()]).toEqual([[], expect.stringContaining('does not bind tokens')]);
  });

  it.each<[string, () => JWK]>([
    ['a public key', () => other.open],
    ['a symmetric one', () => ({ kty: 'oct', k: 'c2VjcmV0' })],
    ['another curve', () => ({ ...other.secret, crv: 'P-384' })],
  ])('refuse %s as an option', (_what, jwk) => {
    expect(() => make({ dpopKey: jwk() })).toThrow('dpopKey must be a private JWK');
  });
});
