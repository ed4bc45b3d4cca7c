import './quiet-provider.js';
import { generateKeyPairSync, randomBytes, type JsonWebKey } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Context } from 'oidc-provider';
import { atEndOfFile } from './between-files.js';
import { BrowserSession, leadsTo, type Page } from './browser-session.js';
import { HeldTimers } from './held-timers.js';

export const CLIENT_ID = 'charging';
export const CLIENT_SECRET = 'a-secret-of-the-charging-service-at-its-provider';

// The service gives a provider 10 s; a test of that limit holds the timer itself.
HeldTimers.holdAlways(10_000, 10_000, '/provider-fetch.');

/** Someone with an account at the identity provider. */
export interface TestPerson {
  email?: string;
  email_verified?: unknown;
  name?: string;
  groups?: string | string[];
}

/** The settings of a provider, as a member of IDENTITY_PROVIDERS. */
export interface ProviderSettings {
  id?: string;
  issuer?: string;
  label?: string;
  audience?: string[];
  accounts?: string;
  role_claim?: string;
  roles?: Record<string, string>;
  scope?: string;
  [member: string]: unknown;
}

/** How a provider differs from `oidc-provider` as it is. */
export interface ProviderTraits {
  /** Further clients of the service there, each with what differs. */
  clients?: Record<string, unknown>[];
  /** Further settings of `oidc-provider`. */
  configuration?: Record<string, unknown>;
  /** Members of its metadata in place of its own. */
  metadata?: Record<string, string>;
  /** Where a person logs in; by default at the provider itself. */
  loginUrl?: string;
  /** Answers a request in its place; true if it did. */
  answer?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export const envOfProviders = (issuer: string, providers: ProviderSettings[]): Record<string, string> => ({
  IDENTITY_PROVIDERS: JSON.stringify(
    providers.map((each) => ({
      id: 'company',
      label: 'Example Company',
      issuer,
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      audience: ['users'],
      accounts: 'create',
      ...each,
    })),
  ),
});

/** Keeps connections for longer than any test lets one wait before it uses it again; returns the address. */
export async function listenForLong(server: Server): Promise<string> {
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const keys: JsonWebKey[] = [];
let keysInUse = 0;

/** A key that no other provider of the file has. The next file has the same ones again, because to make one is dear. */
function nextKey(): JsonWebKey {
  if (keysInUse === 0) atEndOfFile(() => void (keysInUse = 0));
  return (keys[keysInUse++] ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    format: 'jwk',
  }));
}

/**
 * An identity provider over HTTP: `oidc-provider` as it is, with one page on which a person logs in by pressing a button. It listens
 * before the service starts, because the service's settings name it, and serves once it knows the service.
 */
export class IdentityProvider {
  readonly people = new Map<string, TestPerson>();
  /** Requests to it, as method and path. */
  readonly requests: string[] = [];
  /** What became of its back-channel calls: `accepted`, or why not. */
  readonly logoutCalls: string[] = [];
  provider!: Provider;
  url!: string;
  private traits: ProviderTraits = {};
  private readonly server = createServer((request, response) => void this.serve(request, response));

  static async open(): Promise<IdentityProvider> {
    const opened = new IdentityProvider();
    await opened.listen();
    return opened;
  }

  async listen(): Promise<void> {
    this.url = await listenForLong(this.server);
  }

  /** The setting for a service; several providers of the service may be the same server. */
  env(...providers: ProviderSettings[]): Record<string, string> {
    return envOfProviders(this.url, providers);
  }

  /** Registers the service, with the callback of each of its providers. */
  serveTo(serviceUrl: string, ids = ['company'], traits: ProviderTraits = {}): void {
    this.traits = traits;
    const key = { ...nextKey(), kid: 'one', use: 'sig', alg: 'RS256' };
    this.provider = new Provider(this.url, {
      clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET }, ...(traits.clients ?? [])].map(
        (client) => ({
          redirect_uris: ids.map((id) => `${serviceUrl}/login/callback/${id}`),
          post_logout_redirect_uris: [`${serviceUrl}/login`],
          backchannel_logout_uri: `${serviceUrl}/login/backchannel_logout/${ids[0]}`,
          backchannel_logout_session_required: true,
          ...client,
        }),
      ),
      jwks: { keys: [key] },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        // The package's own page loads a font from elsewhere.
        rpInitiatedLogout: {
          logoutSource: (context: { body: string }, form: string) => (context.body = logoutPage(form)),
        },
      },
      // Without the package's own dispatcher, which closes connections to loopback addresses, and without its limit of 2.5 s.
      fetch: (url: string, options: RequestInit) =>
        fetch(url, { ...options, dispatcher: undefined, signal: undefined } as RequestInit),
      interactions: {
        url: (_ctx: unknown, { uid }: { uid: string }) => `${traits.loginUrl ?? ''}/interaction/${uid}`,
      },
      findAccount: (_ctx: unknown, sub: string) =>
        this.people.has(sub)
          ? { accountId: sub, claims: () => ({ sub, ...this.people.get(sub) }) }
          : undefined,
      // Nobody is asked for consent.
      loadExistingGrant: async ({ oidc }: Context) => {
        const { clientId } = oidc.client;
        const grant = new this.provider.Grant({ clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email profile groups');
        await grant.save();
        return grant;
      },
      ...traits.configuration,
    });
    this.provider.use(async (context: { path: string; body: object }, next: () => Promise<void>) => {
      await next();
      if (context.path.endsWith('/openid-configuration')) Object.assign(context.body, traits.metadata);
    });
    this.provider.on('backchannel.success', () => this.logoutCalls.push('accepted'));
    this.provider.on('backchannel.error', (_ctx, error) => this.logoutCalls.push((error as Error).message));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.url);
    this.requests.push(`${request.method} ${pathname}`);
    if (this.traits.answer?.(request, response)) return;
    if (!pathname.startsWith('/interaction/')) return void this.provider.callback()(request, response);
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html');
      return void response.end(interactionPage(pathname, [...this.people.keys()]));
    }
    const accountId = new URLSearchParams(await textOf(request)).get('person');
    const result = accountId
      ? { login: { accountId } }
      : { error: 'access_denied', error_description: 'The person cancelled.' };
    await this.provider.interactionFinished(request, response, result);
  }
}

/** The page on which a person logs in; it posts to this address. */
export const interactionPage = (action: string, people: string[]): string =>
  `<!doctype html><html lang="en"><title>Example Company</title><h1>Example Company</h1>
   <form method="post" action="${action}">
   ${people.map((sub) => `<button name="person" value="${sub}">Log in as ${sub}</button>`).join('\n')}
   <button name="person" value="">Cancel</button></form>`;

const logoutPage = (form: string): string =>
  `<!doctype html><html lang="en"><title>Example Company</title><h1>Log out?</h1>${form}
   <button form="op.logoutForm" name="logout" value="yes">Log out there</button>`;

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}

/** A person's browser at the service and at the provider. */
export class PersonBrowser {
  readonly service: BrowserSession;

  /** `there`: the person's browser at the provider, where it may be logged in already; `always`: headers of all requests to the service. */
  constructor(
    serviceUrl: string,
    private readonly providerUrl: string,
    readonly there = new BrowserSession(providerUrl),
    always: Record<string, string> = {},
  ) {
    this.service = new BrowserSession(serviceUrl, always);
  }

  /** Presses the button of the login page and logs in there as this person, or cancels; the answer of the service's callback. */
  async logIn(sub: string, id = 'company', returnTo?: string): Promise<Page> {
    return this.service.open(await this.toCallback(sub, id, returnTo));
  }

  /** The same up to the address of the callback, which is not opened. */
  async toCallback(sub: string, id = 'company', returnTo?: string): Promise<string> {
    const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
    const page = await this.service.open(`/login${query}`);
    return this.answerOf(await this.service.submit(page, `/login/providers/${id}`), sub);
  }

  /** Logs in at the provider, if it asks, and returns the address to which it sends the browser. */
  async answerOf(begun: Page, sub: string): Promise<string> {
    let location = leadsTo(begun) ?? '';
    if (!location) throw new Error(`no redirect to the provider: ${begun.status} ${begun.html.text}`);
    while (location.startsWith(this.providerUrl) || location.startsWith('/')) {
      let page = await this.there.open(location);
      if (page.status === 200) {
        const action = page.html.querySelector('form')!.getAttribute('action')!;
        page = await this.there.submit(page, action, { person: sub });
      }
      const next = page.headers.get('location');
      if (!next) throw new Error(`the provider answers ${page.status}: ${page.text.slice(0, 300)}`);
      location = next;
    }
    return location;
  }

  /** Logs out here and, as the provider asks, there; the address to which the provider then sends the browser. */
  async logOut(): Promise<string> {
    const left = await this.service.submit(await this.service.open('/account'), '/logout');
    const asking = await this.there.open(leadsTo(left)!);
    const action = asking.html.querySelector('form')!.getAttribute('action')!;
    const done = await this.there.submit(asking, action, { logout: 'yes' });
    const next = done.headers.get('location');
    if (!next) throw new Error(`the provider answers ${done.status}: ${done.text.slice(0, 300)}`);
    return next;
  }
}
