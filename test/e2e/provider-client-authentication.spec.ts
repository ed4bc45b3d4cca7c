import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { startService, type TestService } from '../support/test-service.js';

// With everything that form encoding leaves as it is, and with what it escapes.
const PLAIN = { client_id: 'charging-data.v1_x', client_secret: 'a-secret.of_the-charging-service' };
const ESCAPED = { client_id: 'charging+data', client_secret: 'a%2Dsecret+with:signs&more~than/letters=' };
const BY_POST = { client_id: 'by-post', client_secret: 'a-secret.of_the-charging-service' };

const RSA = generateKeyPairSync('rsa', { modulusLength: 2048 });
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

/** The public keys of the service's clients at the provider, by the path where it finds them. */
const keySets = new Map<string, string>();

/** A client that the provider knows by its public key. */
function keyClient(idp: IdentityProvider, id: string, key: KeyObject, alg: string, serviceUrl: string) {
  const keys = [{ ...key.export({ format: 'jwk' }), alg, use: 'sig', kid: `key ${id}` }];
  keySets.set(`/keys/${id}`, JSON.stringify({ keys }));
  return {
    client_id: id,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: alg,
    redirect_uris: [`${serviceUrl}/login/callback/${id}`],
    jwks_uri: `${idp.url}/keys/${id}`,
  };
}

/** As some providers do, credentials are compared as they were sent if nothing in them needs an escape. */
function answerFirst({ url, headers }: IncomingMessage, response: ServerResponse): boolean {
  const keys = keySets.get(url!);
  if (keys) response.writeHead(200, { 'content-type': 'application/json' }).end(keys);
  if (keys) return true;
  const [, encoded] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
  if (url !== '/token' || encoded === undefined) return false;
  const basic = Buffer.from(encoded, 'base64').toString();
  if (basic === `${PLAIN.client_id}:${PLAIN.client_secret}` || basic.includes('%2B')) return false;
  response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
  return true;
}

describe('At the token endpoint of an identity provider', () => {
  let idp: IdentityProvider;
  let service: TestService;

  beforeAll(async () => {
    idp = await IdentityProvider.open();
    const file = join(await mkdtemp(join(tmpdir(), 'provider-key-')), 'key.pem');
    await writeFile(file, pemOf(EC.privateKey));
    const byKey = { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt' };
    const ways = [
      { id: 'unsaid', ...PLAIN },
      { id: 'escaped', ...ESCAPED, token_endpoint_auth_method: 'client_secret_basic' },
      { id: 'post', ...BY_POST, token_endpoint_auth_method: 'client_secret_post' },
      { id: 'by-rsa', client_id: 'by-rsa', ...byKey, private_key: pemOf(RSA.privateKey) },
      {
        id: 'by-ec',
        client_id: 'by-ec',
        ...byKey,
        private_key_file: file,
        assertion_audience: 'token_endpoint',
      },
    ];
    // A service has at most five providers. An Ed25519 key as a JWK signs in test/unit/provider-client-authentication.spec.ts.
    service = await startService({ env: idp.env(...ways) });
    const ids = ways.map(({ id }) => id);
    idp.serveTo(service.url, ids, {
      clients: [
        PLAIN,
        ESCAPED,
        { ...BY_POST, token_endpoint_auth_method: 'client_secret_post' },
        keyClient(idp, 'by-rsa', RSA.publicKey, 'RS256', service.url),
        keyClient(idp, 'by-ec', EC.publicKey, 'ES256', service.url),
      ],
      configuration: {
        enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'ES256'] },
      },
      answer: answerFirst,
    });
    idp.people.set('ada', { email: 'ada@mail.example', email_verified: true, name: 'Ada' });
  });
  afterAll(async () => {
    await service.stop();
    await idp.close();
  });

  const logIn = async (id: string): Promise<string | null> =>
    (await new PersonBrowser(service.url, idp.url).logIn('ada', id)).headers.get('location');

  it('a secret with characters that form encoding leaves is sent as it is, by Basic', async () => {
    expect(await logIn('unsaid')).toBe('/account');
  });

  it('characters that form encoding escapes are escaped', async () => {
    expect(await logIn('escaped')).toBe('/account');
  });

  it('a secret is sent in the body where the settings say so, whatever the metadata say', async () => {
    expect(await logIn('post')).toBe('/account');
  });

  it.each([
    ['an RSA key from the setting', 'by-rsa'],
    ['an EC key from a file, for the token endpoint', 'by-ec'],
  ])('%s signs an assertion that the provider accepts', async (_what, id) => {
    expect(await logIn(id)).toBe('/account');
  });

  it('neither a secret nor a key is in the log', () => {
    const log = service.log.join('\n');
    const secrets = [PLAIN.client_secret, ESCAPED.client_secret, 'PRIVATE KEY'];
    expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  });
});
