import { generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { parseIdentityProviders } from '#platform/config/identity-providers.js';
import { authenticationAt } from '#access/identity-providers/protocol/provider-clients.service.js';

const SERVER = { issuer: 'https://login.example', token_endpoint: 'https://login.example/token' };
const KEYS = generateKeyPairSync('ed25519');

/** What a provider with these settings and metadata gets at its token endpoint. */
async function sentTo(settings: object, metadata: object = {}) {
  const provider = {
    id: 'company',
    label: 'Example Company',
    issuer: SERVER.issuer,
    client_id: 'charging-data',
    audience: ['users'],
    accounts: 'create',
    ...settings,
  };
  const authenticate = await authenticationAt(parseIdentityProviders(JSON.stringify([provider]))[0]!);
  const [body, headers] = [new URLSearchParams(), new Headers()];
  const client = { client_id: 'charging-data' };
  // Some ways are asynchronous, which their type does not say.
  await Promise.resolve<unknown>(authenticate({ ...SERVER, ...metadata }, client, body, headers));
  const [, basic] = /^Basic (.+)$/.exec(headers.get('authorization') ?? '') ?? [];
  return { basic: basic && Buffer.from(basic, 'base64').toString(), body: Object.fromEntries(body) };
}

describe('To the token endpoint of a provider', () => {
  const secret = { client_secret: 'a-b.c_d*e~f+g%2Dh' };
  const BASIC = 'charging-data:a-b.c_d*e%7Ef%2Bg%252Dh';
  const BODY = { client_id: 'charging-data', ...secret };

  it.each<[string, object, object, object]>([
    ['without a word in its metadata', {}, {}, { basic: BASIC, body: {} }],
    [
      'that supports Basic and others',
      {},
      { token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] },
      { basic: BASIC, body: {} },
    ],
    [
      'that supports only the body',
      {},
      { token_endpoint_auth_methods_supported: ['client_secret_post'] },
      { basic: undefined, body: BODY },
    ],
    [
      'that supports only the body, but for which the settings say Basic',
      { token_endpoint_auth_method: 'client_secret_basic' },
      { token_endpoint_auth_methods_supported: ['client_secret_post'] },
      { basic: BASIC, body: {} },
    ],
    [
      'for which the settings say the body',
      { token_endpoint_auth_method: 'client_secret_post' },
      {},
      { basic: undefined, body: BODY },
    ],
  ])(
    '%s, the secret goes where it belongs, escaped as in a form',
    async (_what, settings, metadata, expected) => {
      expect(await sentTo({ ...secret, ...settings }, metadata)).toEqual(expected);
    },
  );

  it.each([
    [{}, SERVER.issuer],
    [{ assertion_audience: 'issuer' }, SERVER.issuer],
    [{ assertion_audience: 'token_endpoint' }, SERVER.token_endpoint],
  ])('an assertion goes to its audience, signed by our key (%j)', async (settings, audience) => {
    const { basic, body } = await sentTo({
      token_endpoint_auth_method: 'private_key_jwt',
      ...settings,
      private_key: { ...KEYS.privateKey.export({ format: 'jwk' }), kid: 'our-key' },
    });
    const assertion = body['client_assertion']!;
    const { payload } = await jwtVerify(assertion, KEYS.publicKey);
    expect(payload).toMatchObject({ iss: 'charging-data', sub: 'charging-data', aud: audience });
    expect(decodeProtectedHeader(assertion)).toMatchObject({ alg: 'EdDSA', kid: 'our-key' });
    expect([basic, body['client_id'], body['client_secret']]).toEqual([
      undefined,
      'charging-data',
      undefined,
    ]);
  });

  it('an assertion calls its algorithm as the JWK does', async () => {
    const { body } = await sentTo({
      token_endpoint_auth_method: 'private_key_jwt',
      private_key: { ...KEYS.privateKey.export({ format: 'jwk' }), alg: 'Ed25519' },
    });
    const { protectedHeader } = await jwtVerify(body['client_assertion']!, KEYS.publicKey);
    expect(protectedHeader.alg).toBe('Ed25519');
  });
});
