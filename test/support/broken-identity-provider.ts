import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type CryptoKey, type JWTPayload } from 'jose';
import type { BrowserSession } from './browser-session.js';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  envOfProviders,
  listenForLong,
  type ProviderSettings,
} from './identity-provider.js';

/** What is wrong with a provider; nothing by default. */
export interface Faults {
  metadata?: Record<string, unknown>;
  /** Claims of the ID token instead of the right ones; undefined removes one. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Signs with another key than the published one, with the client secret, or not at all. */
  signature?: 'another key' | 'HS256' | 'none';
  /** Parameters of the redirect back instead of the right ones. */
  redirect?: Record<string, string | undefined>;
  /** The answer of the endpoint at this path. `hang`: none at all. */
  answers?: Record<string, { status: number; body: string; headers?: Record<string, string> } | 'hang'>;
}

/** An identity provider of our own that answers as a test says: correctly, but for one fault. */
export class BrokenIdentityProvider {
  faults: Faults = {};
  /** Requests to it, as method and path. */
  readonly requests: string[] = [];
  private kid = 1;
  private alg = 'RS256';
  url!: string;
  private readonly nonces = new Map<string, string>();
  private readonly server = createServer((request, response) => void this.serve(request, response));
  private keys!: { publicKey: CryptoKey; privateKey: CryptoKey };

  static async open(): Promise<BrokenIdentityProvider> {
    const opened = new this();
    await opened.listen();
    return opened;
  }

  async listen(): Promise<void> {
    this.url = await listenForLong(this.server);
    this.keys = await newKeys();
  }

  env(...providers: ProviderSettings[]): Record<string, string> {
    return envOfProviders(this.url, providers);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** From now on it signs with another key, which it publishes. */
  async rotateKeys(alg = this.alg): Promise<void> {
    this.keys = await newKeys(alg);
    this.alg = alg;
    this.kid++;
  }

  /** Presses the button of a provider on the login page; returns what the browser comes back with. */
  async toCallback(browser: BrowserSession, id = 'company'): Promise<string> {
    const begun = await browser.submit(await browser.open('/login'), `/login/providers/${id}`);
    return this.callbackOf(begun.headers.get('location')!);
  }

  /** What the browser comes back with after the authorization request at this address. */
  callbackOf(authorizationUrl: string): string {
    const { searchParams: sent } = new URL(authorizationUrl);
    const code = `code-${this.nonces.size}`;
    this.nonces.set(code, sent.get('nonce')!);
    const query = { code, state: sent.get('state')!, iss: this.url, ...this.faults.redirect };
    const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return `${sent.get('redirect_uri')}?${new URLSearchParams(given).toString()}`;
  }

  /** A token signed by the provider. */
  sign(claims: JWTPayload, header: Record<string, unknown> = {}): Promise<string> {
    return new SignJWT(claims)
      .setProtectedHeader({ alg: this.alg, kid: String(this.kid), ...header })
      .sign(this.keys.privateKey);
  }

  /** A right logout token, but for these claims. */
  logoutToken(claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: this.url,
      aud: CLIENT_ID,
      iat: now,
      exp: now + 120,
      jti: `jti-${Math.random()}`,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    return this.sign({ ...right, ...claims } as JWTPayload, { typ: 'logout+jwt', ...header });
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url!, this.url).pathname;
    this.requests.push(`${request.method} ${path}`);
    const planned = this.faults.answers?.[path];
    if (planned === 'hang') return;
    const { status, body, headers } = planned ?? {
      status: 200,
      body: JSON.stringify(await this.answer(path, request)),
    };
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  }

  private async answer(path: string, request: IncomingMessage): Promise<unknown> {
    if (path === '/.well-known/openid-configuration') return this.metadata();
    if (path === '/jwks') {
      const key = {
        ...(await exportJWK(this.keys.publicKey)),
        kid: String(this.kid),
        alg: this.alg,
        use: 'sig',
      };
      return { keys: [key] };
    }
    const form = new URLSearchParams(await textOf(request));
    return {
      access_token: 'an-access-token',
      token_type: 'Bearer',
      expires_in: 60,
      id_token: await this.idToken(form.get('code') ?? ''),
    };
  }

  private metadata(): Record<string, unknown> {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/auth`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      end_session_endpoint: `${this.url}/end`,
      authorization_response_iss_parameter_supported: true,
      id_token_signing_alg_values_supported: [this.alg],
      ...this.faults.metadata,
    };
  }

  private async idToken(code: string): Promise<string> {
    const { claims = {}, header, signature } = this.faults;
    const now = Math.floor(Date.now() / 1000);
    const right = {
      iss: this.url,
      sub: 'someone',
      aud: CLIENT_ID,
      iat: now,
      exp: now + 300,
      nonce: this.nonces.get(code),
      auth_time: now,
      email: 'someone@mail.example',
      email_verified: true,
      name: 'Some Body',
    };
    const payload = { ...right, ...claims } as JWTPayload;
    if (signature === 'none') return new UnsecuredJWT(payload).encode();
    if (signature === 'HS256')
      return new SignJWT(payload).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(CLIENT_SECRET));
    if (signature !== 'another key') return this.sign(payload, header);
    const { privateKey } = await newKeys();
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: String(this.kid) }).sign(privateKey);
  }
}

const newKeys = (alg = 'RS256') => generateKeyPair(alg, { extractable: true });

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
