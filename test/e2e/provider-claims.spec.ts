import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo } from '../support/browser-session.js';
import { useServiceWithProvider } from '../support/set-up.js';

const ROLES = { 'charging-admins': 'admin', helpers: 'support', 'cn=readers,ou=groups': 'viewer' };
const AUDIENCE = ['users', 'operators'];

describe('What a provider says about a person', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(
    idp,
    [
      { id: 'plain' },
      { id: 'trusted', trust_email: true },
      { id: 'domains', trust_email: ['Mail.Example', 'other.example'] },
      { id: 'keycloak', role_claim: 'realm_access.roles', roles: ROLES },
      { id: 'named', role_claim: 'https://ns.example/roles', roles: ROLES },
    ].map((provider) => ({ ...provider, audience: AUDIENCE })),
  );
  let n = 0;

  /** Logs someone new in; the heading of the refusal, or the user that was made. */
  const logIn = async (
    id: string,
    claims: Record<string, unknown>,
    userinfo?: Record<string, unknown>,
  ): Promise<string | { email: string; role: string | null }> => {
    const sub = `person-${++n}`;
    const email = `${sub}@mail.example`;
    idp.faults = {
      claims: { sub, email, name: sub, ...claims },
      metadata: { userinfo_endpoint: `${idp.url}/userinfo` },
      answers: { '/userinfo': { status: 200, body: JSON.stringify({ sub, ...userinfo }) } },
    };
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${id}`);
    const page = await browser.open(idp.callbackOf(leadsTo(begun)!));
    if (page.status !== 303) return page.html.querySelector('h1')!.text;
    const [user] = await service.database.query<{ email: string; role: string | null }>(
      `SELECT email, operator_role AS role FROM users JOIN identities ON users.id = user_id WHERE subject = $1`,
      [sub],
    );
    return { email: user!.email.replace(sub, 'me'), role: user!.role };
  };
  const UNVERIFIED = 'Your email address is not verified';
  const user = { email: 'me@mail.example', role: null };

  describe('about the address', () => {
    it.each([
      ['without email_verified, is not trusted by itself', 'plain', {}],
      ['with another email_verified than true, is not trusted', 'plain', { email_verified: 'yes' }],
      ['that is not verified, is not trusted by setting either', 'trusted', { email_verified: false }],
      ['that is not verified, as a text', 'trusted', { email_verified: 'false' }],
      ['with an email_verified of null', 'trusted', { email_verified: null }],
      ['that is none', 'trusted', { email: 'nobody' }],
      ['of another domain than the trusted ones', 'domains', { email: 'me@evil.example' }],
      ['of a domain below a trusted one', 'domains', { email: 'me@sub.mail.example' }],
      ['with a trusted domain in its name', 'domains', { email: '"x@mail.example"@evil.example' }],
    ])('%s: no account', async (_what, id, claims) => {
      expect(await logIn(id, { email_verified: undefined, ...claims })).toBe(UNVERIFIED);
    });

    it('that the userinfo endpoint calls not verified is not trusted by setting', async () => {
      const claims = { email_verified: undefined };
      expect(await logIn('trusted', claims, { email_verified: false })).toBe(UNVERIFIED);
    });

    it('is verified by the text "true" too', async () => {
      expect(await logIn('plain', { email_verified: 'true' })).toEqual(user);
    });

    it.each(['trusted', 'domains'])('without email_verified makes an account by setting (%s)', async (id) => {
      expect(await logIn(id, { email_verified: undefined })).toEqual(user);
    });

    it('is trusted by setting also from the userinfo endpoint', async () => {
      const claims = { email: undefined, email_verified: undefined };
      const email = 'from-userinfo@mail.example';
      expect(await logIn('trusted', claims, { email })).toEqual({ email, role: null });
    });
  });

  describe('about the role', () => {
    it.each([
      ['an array at the end of the path', { roles: ['other', 'helpers'] }, 'support'],
      ['the highest of an array', { roles: ['helpers', 'charging-admins'] }, 'admin'],
      ['a list with commas', { roles: 'other, charging-admins ,helpers' }, 'admin'],
      ['a text with a comma that is one value', { roles: 'cn=readers,ou=groups' }, 'viewer'],
      ['an object by its names', { roles: { helpers: { 'org-1': 'charging.example' } } }, 'support'],
      ['a name that leads to no object', { roles: { helpers: true, 'charging-admins': [] } }, null],
      ['nothing at the end of the path', { other: ['helpers'] }, null],
      ['an array of something else', { roles: [1, { helpers: 'helpers' }] }, null],
      ['a comma in a value of an array, which is no list', { roles: ['other,charging-admins'] }, null],
      ['an array in the path', [{ roles: 'helpers' }], null],
      ['a text in the path', 'helpers', null],
    ])('%s', async (_what, realmAccess, role) => {
      expect(await logIn('keycloak', { realm_access: realmAccess, email_verified: true })).toEqual({
        ...user,
        role,
      });
    });

    it('is found by a name with dots before a path', async () => {
      const claims = { 'realm_access.roles': ['helpers'], realm_access: { roles: ['charging-admins'] } };
      expect(await logIn('keycloak', claims)).toEqual({ ...user, role: 'support' });
      expect(await logIn('named', { 'https://ns.example/roles': ['helpers'] })).toEqual({
        ...user,
        role: 'support',
      });
    });

    it('is found at the userinfo endpoint', async () => {
      const userinfo = { realm_access: { roles: ['charging-admins'] } };
      expect(await logIn('keycloak', {}, userinfo)).toEqual({ ...user, role: 'admin' });
    });

    it.each([
      ['in the ID token', { _claim_names: { realm_access: 'src1' } }, {}],
      ['at the userinfo endpoint', {}, { _claim_names: { 'realm_access.roles': 'src1' } }],
    ])(
      'is not taken for none where the provider says that it is elsewhere, %s',
      async (_where, claims, userinfo) => {
        expect(await logIn('keycloak', { email_verified: true, ...claims }, userinfo)).toBe(
          'The answer could not be accepted',
        );
      },
    );

    it('is not what every object has', async () => {
      expect(await logIn('keycloak', { realm_access: {} })).toEqual(user);
    });
  });
});
