import { parseIdentityProviders } from '#platform/config/identity-providers.js';
import { requireStrength, type Claims } from '#access/identity-providers/protocol/claims.js';
import { personOf } from '#access/identity-providers/protocol/person.js';

const ADDRESS = 'me@mail.example';
const ROLES = { 'charging-admins': 'admin', helpers: 'support', 'cn=readers,ou=groups': 'viewer' };

/** A provider with these settings. */
const providerWith = (settings: object) => {
  const provider = {
    id: 'company',
    label: 'Example Company',
    issuer: 'https://login.example',
    client_id: 'x',
    client_secret: 'x'.repeat(32),
    audience: ['users', 'operators'],
    accounts: 'create',
    ...settings,
  };
  return parseIdentityProviders(JSON.stringify([provider]))[0]!;
};
const personWith = (settings: object, claims: Record<string, unknown>, userinfo: Claims = {}) => {
  const idToken = { iss: 'https://login.example', sub: 'me', ...claims };
  return personOf(providerWith(settings), idToken, userinfo);
};

describe('What a provider says about the address of a person', () => {
  const trusting = { trust_email: true };
  const domains = { trust_email: ['Mail.Example', 'other.example'] };

  it.each<[string, object, Record<string, unknown>]>([
    ['without email_verified, is not trusted by itself', {}, {}],
    ['with another email_verified than true, is not trusted', {}, { email_verified: 'yes' }],
    ['that is not verified, is not trusted by setting either', trusting, { email_verified: false }],
    ['that is not verified, as a text', trusting, { email_verified: 'false' }],
    ['with an email_verified of null', trusting, { email_verified: null }],
    ['that is none', trusting, { email: 'nobody' }],
    ['of another domain than the trusted ones', domains, { email: 'me@evil.example' }],
    ['of a domain below a trusted one', domains, { email: 'me@sub.mail.example' }],
    ['with a trusted domain in its name', domains, { email: '"x@mail.example"@evil.example' }],
  ])('%s: no verified address, but one that was sent', (_what, settings, claims) => {
    const { verifiedEmail, hasEmail, saysWhetherVerified } = personWith(settings, {
      email: ADDRESS,
      ...claims,
    });
    expect([verifiedEmail, hasEmail]).toEqual([undefined, true]);
    expect(saysWhetherVerified).toBe('email_verified' in claims);
  });

  it('that the userinfo endpoint calls not verified is not trusted by setting', () => {
    const userinfo = { email_verified: false };
    const { verifiedEmail, saysWhetherVerified } = personWith(trusting, { email: ADDRESS }, userinfo);
    expect([verifiedEmail, saysWhetherVerified]).toEqual([undefined, true]);
  });

  it('is verified by true, and by the text "true" too', () => {
    for (const email_verified of [true, 'true'])
      expect(personWith({}, { email: ADDRESS, email_verified }).verifiedEmail).toBe(ADDRESS);
  });

  it('without email_verified is trusted by setting, also from the userinfo endpoint', () => {
    for (const settings of [trusting, domains])
      expect(personWith(settings, { email: ADDRESS }).verifiedEmail).toBe(ADDRESS);
    expect(personWith(trusting, {}, { email: ADDRESS }).verifiedEmail).toBe(ADDRESS);
  });
});

describe('What a provider says about the role of a person', () => {
  const keycloak = { role_claim: 'realm_access.roles', roles: ROLES };
  const named = { role_claim: 'https://ns.example/roles', roles: ROLES };

  it.each<[string, unknown, string | undefined]>([
    ['an array at the end of the path', { roles: ['other', 'helpers'] }, 'support'],
    ['the highest of an array', { roles: ['helpers', 'charging-admins'] }, 'admin'],
    ['a list with commas', { roles: 'other, charging-admins ,helpers' }, 'admin'],
    ['a text with a comma that is one value', { roles: 'cn=readers,ou=groups' }, 'viewer'],
    ['an object by its names', { roles: { helpers: { 'org-1': 'charging.example' } } }, 'support'],
    ['a name that leads to no object', { roles: { helpers: true, 'charging-admins': [] } }, undefined],
    ['nothing at the end of the path', { other: ['helpers'] }, undefined],
    ['an array of something else', { roles: [1, { helpers: 'helpers' }] }, undefined],
    ['a comma in a value of an array, which is no list', { roles: ['other,charging-admins'] }, undefined],
    ['an array in the path', [{ roles: 'helpers' }], undefined],
    ['a text in the path', 'helpers', undefined],
    ['what every object has', {}, undefined],
  ])('%s', (_what, realmAccess, role) => {
    expect(personWith(keycloak, { realm_access: realmAccess }).role).toBe(role);
  });

  it('is found by a name with dots before a path', () => {
    const claims = { 'realm_access.roles': ['helpers'], realm_access: { roles: ['charging-admins'] } };
    expect(personWith(keycloak, claims).role).toBe('support');
    expect(personWith(named, { 'https://ns.example/roles': ['helpers'] }).role).toBe('support');
  });

  it('is found at the userinfo endpoint', () => {
    expect(personWith(keycloak, {}, { realm_access: { roles: ['charging-admins'] } }).role).toBe('admin');
  });

  it.each<[string, Claims, Claims]>([
    ['in the ID token', { _claim_names: { realm_access: 'src1' } }, {}],
    ['at the userinfo endpoint', {}, { _claim_names: { 'realm_access.roles': 'src1' } }],
  ])('is not taken for none where the provider says that it is elsewhere, %s', (_where, claims, userinfo) => {
    expect(() => personWith(keycloak, claims, userinfo)).toThrow(
      expect.objectContaining({ reason: 'provider_answer_invalid' }) as Error,
    );
  });
});

describe('How strongly a person authenticated at a provider, by acr and amr:', () => {
  const ACR = ['urn:example:mfa', 'phr'];
  const acr = providerWith({ acr_values: ACR });
  const amr = providerWith({ acr_values: ACR, amr_values: ['mfa', 'hwk'] });

  it.each<[string, typeof acr, Claims]>([
    ['no acr', acr, {}],
    ['another acr', acr, { acr: 'urn:example:password' }],
    ['an acr that begins alike', acr, { acr: 'phrh' }],
    ['acr as a list', acr, { acr: ACR as never }],
    ['an amr, where only acr counts', acr, { amr: ['phr', 'mfa'] }],
    ['another amr', amr, { amr: ['pwd'] }],
    ['an amr that is an object', amr, { amr: { mfa: true } }],
  ])('%s is too weak', (_what, provider, claims) => {
    expect(() => requireStrength(provider, claims)).toThrow(
      expect.objectContaining({ reason: 'authentication_too_weak' }) as Error,
    );
  });

  it.each<[string, typeof acr, Claims]>([
    ['one of acr_values as acr', acr, { acr: 'phr' }],
    ['one of acr_values as acr, where amr counts too', amr, { acr: 'urn:example:mfa', amr: ['pwd'] }],
    ['one of amr_values in amr', amr, { amr: ['pwd', 'mfa'] }],
    ['one of amr_values as the only amr, as a text', amr, { amr: 'hwk' }],
  ])('%s is enough', (_what, provider, claims) => {
    expect(() => requireStrength(provider, claims)).not.toThrow();
  });
});
