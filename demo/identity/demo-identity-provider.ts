import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Context, default as Provider } from 'oidc-provider';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import type { Settings } from '#platform/config/settings.js';
import { withoutLogo } from '#platform/web/layout/brand.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { logOutTherePage } from '../pages/identity-provider.pages.js';

/** Where the identity provider of the demonstration is mounted. */
export const IDENTITY_PATH = '/demo/identity';

export const DEMO_PROVIDER_ID = 'demo-company';
const CLIENT_ID = 'charging-data-service';
const LIVES_SECONDS = 3600;

/** Someone who can log in there with one press of a button. */
export interface DemoPerson {
  id: string;
  email: string;
  name: string;
}

/** The settings with which the service uses the identity provider of the demonstration. */
export const demoProviderSettings = (baseUrl: string): IdentityProvider => ({
  id: DEMO_PROVIDER_ID,
  label: 'Demo company',
  issuer: new URL(`${baseUrl}${IDENTITY_PATH}`),
  clientId: CLIENT_ID,
  clientSecret: randomBytes(32).toString('base64url'),
  audience: ['users', 'operators'],
  accounts: 'verified_email',
  roles: new Map(),
  scope: 'openid email profile',
});

/** An identity provider for the people of the demonstration. It keeps everything in memory, with new keys at every start. */
export async function makeDemoIdentityProvider(
  { clientSecret }: IdentityProvider,
  people: DemoPerson[],
  { baseUrl, brand }: Settings,
): Promise<Provider> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: 'demo', use: 'sig', alg: 'RS256' };
  return quietly(async () => {
    const { default: Provider } = await import('oidc-provider');
    const provider: Provider = new Provider(`${baseUrl}${IDENTITY_PATH}`, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: clientSecret,
          redirect_uris: [`${baseUrl}/login/callback/${DEMO_PROVIDER_ID}`],
          post_logout_redirect_uris: [`${baseUrl}/login`],
          backchannel_logout_uri: `${baseUrl}/login/backchannel_logout/${DEMO_PROVIDER_ID}`,
          backchannel_logout_session_required: true,
        },
      ],
      jwks: { keys: [key] },
      cookies: { keys: [randomBytes(32).toString('base64url')] },
      ttl: {
        Interaction: LIVES_SECONDS,
        Grant: LIVES_SECONDS,
        Session: LIVES_SECONDS,
        AccessToken: LIVES_SECONDS,
        IdToken: LIVES_SECONDS,
      },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          logoutSource: (context: { body: string }, form: string) => {
            context.body = renderPage(logOutTherePage(form), withoutLogo(brand));
          },
        },
      },
      // It calls this service only. The package's own dispatcher closes connections to loopback addresses.
      fetch: (url: string, options: RequestInit) =>
        fetch(url, { ...options, dispatcher: undefined } as RequestInit),
      interactions: {
        url: (_context: unknown, { uid }: { uid: string }) => `${IDENTITY_PATH}/interaction/${uid}`,
      },
      findAccount: (_context: unknown, sub: string) => {
        const person = people.find(({ id }) => id === sub);
        const claims = () => ({ sub, email: person!.email, email_verified: true, name: person!.name });
        return person && { accountId: sub, claims };
      },
      // There is one application, and it belongs to the same company: nobody is asked for consent.
      loadExistingGrant: async ({ oidc }: Context) => {
        const { clientId } = oidc.client;
        const grant = new provider.Grant({ clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    return provider;
  });
}

/** Without the package's advice for production, which the demonstration is not. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  // oxlint-disable-next-line no-console -- the package writes there itself
  console.warn = console.info = () => undefined;
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, info });
  }
}
