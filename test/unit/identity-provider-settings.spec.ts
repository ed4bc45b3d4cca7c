import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIdentityProviders } from '#platform/config/identity-providers.js';

const SECRET = 'a-secret-that-no-message-quotes';
const folder = mkdtempSync(join(tmpdir(), 'provider-key-'));
const fileOf = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const RSA = pemOf(rsa.privateKey);
const ed = generateKeyPairSync('ed25519');
const keyOf = (curve: string) => generateKeyPairSync('ec', { namedCurve: curve }).privateKey;

const parse = (more: object) =>
  parseIdentityProviders(
    JSON.stringify([
      {
        id: 'company',
        label: 'Example Company',
        issuer: 'https://login.example',
        client_id: 'charging',
        client_secret: SECRET,
        audience: ['users', 'operators'],
        accounts: 'create',
        ...more,
      },
    ]),
  )[0]!;
const BY_KEY = { client_secret: undefined, token_endpoint_auth_method: 'private_key_jwt' };

describe('The settings of an identity provider', () => {
  it.each<[string, object, RegExp]>([
    [
      'another way to authenticate',
      { token_endpoint_auth_method: 'none' },
      /token_endpoint_auth_method must be one/,
    ],
    ['a key with another way', { private_key: RSA }, /are for private_key_jwt/],
    [
      'a secret with a key',
      { ...BY_KEY, private_key: RSA, client_secret: SECRET },
      /client_secret is not used/,
    ],
    ['no secret without a key', { client_secret: undefined }, /client_secret must be/],
    ['no key', BY_KEY, /either private_key or private_key_file/],
    ['two keys', { ...BY_KEY, private_key: RSA, private_key_file: '/x' }, /either private_key or/],
    ['a key that is none', { ...BY_KEY, private_key: 'no key' }, /private_key must be/],
    ['a number as a key', { ...BY_KEY, private_key: 7 }, /private_key must be/],
    ['a JWK that is none', { ...BY_KEY, private_key: { kty: 'RSA' } }, /private_key must be/],
    [
      'a public key',
      { ...BY_KEY, private_key: rsa.publicKey.export({ type: 'spki', format: 'pem' }) },
      /private_key must be/,
    ],
    [
      'an RSA key that is too short',
      { ...BY_KEY, private_key: pemOf(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey) },
      /private_key must be/,
    ],
    ['a key of another kind', { ...BY_KEY, private_key: pemOf(keyOf('secp256k1')) }, /private_key must be/],
    [
      'a JWK for another algorithm than its own',
      { ...BY_KEY, private_key: { ...rsa.privateKey.export({ format: 'jwk' }), alg: 'ES256' } },
      /private_key must be/,
    ],
    [
      'a JWK for an algorithm of another curve',
      { ...BY_KEY, private_key: { ...ed.privateKey.export({ format: 'jwk' }), alg: 'Ed448' } },
      /private_key must be/,
    ],
    [
      'a file that is not there',
      { ...BY_KEY, private_key_file: join(folder, 'none') },
      /private_key_file must name/,
    ],
    [
      'a file without a key',
      { ...BY_KEY, private_key_file: fileOf('empty', 'no key') },
      /private_key_file must name/,
    ],
    [
      'an audience of nobody',
      { ...BY_KEY, private_key: RSA, assertion_audience: 'all' },
      /assertion_audience must/,
    ],
    [
      'a template as the issuer',
      { issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0' },
      /issuer is a template: put the id of your tenant/,
    ],
    ['trust in nothing', { trust_email: false }, /trust_email must be true or/],
    ['trust in no domain', { trust_email: [] }, /trust_email must be true or/],
    ['trust in an address', { trust_email: ['me@mail.example'] }, /trust_email must be true or/],
    ['trust in every domain', { trust_email: ['*'] }, /trust_email must be true or/],
    ['another way to ask again', { step_up: 'max_age=60' }, /step_up must be one of/],
    ['an answer in the fragment', { response_mode: 'fragment' }, /response_mode must be one of form_post/],
    [
      'another name for the return from a logout',
      { logout_redirect_parameter: 'returnTo' },
      /logout_redirect_parameter must be one of logout_uri/,
    ],
    ['a time that is always taken', { auth_time: true }, /auth_time must be one of optional/],
    ['acr_values as a text', { acr_values: 'mfa phr' }, /acr_values must be an array/],
    ['acr_values with a space', { acr_values: ['mfa phr'] }, /acr_values must be an array/],
    ['no acr_values', { acr_values: [] }, /acr_values must be an array/],
    ['amr_values that are no texts', { amr_values: [1] }, /amr_values must be an array/],
  ])('are refused with %s, and the message quotes no value', (_what, more, message) => {
    let refusal = '';
    try {
      parse(more);
    } catch (error) {
      refusal = (error as Error).message;
    }
    expect(refusal).toMatch(message);
    expect(refusal).toMatch(/^provider 1: /);
    expect(refusal).not.toMatch(new RegExp(`${SECRET}|BEGIN|${folder}`));
  });

  it.each<[string, unknown, string]>([
    ['an RSA key', RSA, 'RS256'],
    ['an RSA key in its older form', rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }), 'RS256'],
    ['an RSA key for PS256', { ...rsa.privateKey.export({ format: 'jwk' }), alg: 'PS256' }, 'PS256'],
    ['a key on P-256', pemOf(keyOf('P-256')), 'ES256'],
    ['a key on P-384', pemOf(keyOf('P-384')), 'ES384'],
    ['a key on P-521', pemOf(keyOf('P-521')), 'ES512'],
    ['an Ed25519 key', pemOf(ed.privateKey), 'EdDSA'],
    [
      'an Ed25519 key by its newer name',
      { ...ed.privateKey.export({ format: 'jwk' }), alg: 'Ed25519' },
      'Ed25519',
    ],
  ])('take %s, from the setting or from a file', (what, key, algorithm) => {
    expect(parse({ ...BY_KEY, private_key: key }).privateKey!.algorithm).toBe(algorithm);
    const file = fileOf(what, typeof key === 'string' ? key : JSON.stringify(key));
    expect(parse({ ...BY_KEY, private_key_file: file }).privateKey!.algorithm).toBe(algorithm);
  });

  it('know when a secret ends that is a JWT, and take any other as it is', () => {
    const partOf = (part: unknown) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const jwt = (payload: unknown) => `${partOf({ alg: 'ES256', kid: 'A' })}.${partOf(payload)}.c2ln`;
    const endOf = (client_secret: string) => parse({ client_secret }).clientSecretEndsAt;
    expect(endOf(jwt({ iss: 'TEAM', exp: 1_800_000_000 }))).toEqual(new Date(1_800_000_000_000));
    for (const secret of [
      SECRET,
      'a.b.c',
      'e30.e30.e30',
      jwt({}),
      jwt({ exp: '1800000000' }),
      jwt({ exp: 1e300 }),
      jwt(null),
      `${jwt({ exp: 1 })}.x`,
      jwt({ exp: 1 }).slice(1),
    ])
      expect([secret, endOf(secret)]).toEqual([secret, undefined]);
  });

  it('take the name of a JWK, and domains in any case', () => {
    const jwk = { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'one' };
    expect(parse({ ...BY_KEY, private_key: jwk }).privateKey!.id).toBe('one');
    expect(parse({ trust_email: ['Mail.Example'] }).trustEmail).toEqual(['mail.example']);
    expect(parse({ trust_email: true }).trustEmail).toBe(true);
  });
});
