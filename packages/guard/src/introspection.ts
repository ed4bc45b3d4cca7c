import type { Agent } from 'node:http';
import {
  agentFor,
  basicCredentials,
  exchange,
  type ServiceAnswer,
  type ServiceRequest,
} from './http-exchange.js';
import type { GuardSettings } from './options.js';
import { exchangeProven, ownToken } from './own-token.js';

/** What a valid token may do: with a user's data if one was named, otherwise at most. */
export interface Access {
  scopes: readonly string[];
  clientId: string;
  /** The user who authorized the client; undefined for a token that the client got in its own name. */
  userId: string | undefined;
  /** Seconds since 1970, by the clock of the service. */
  expiresAt: number;
  /** The SHA-256 thumbprint (RFC 7638) of the key that the token is bound to; only of such a token. */
  jkt?: string;
}

/** An answer of the service: `access` is undefined for a token that is not valid. */
export interface Introspection {
  access: Access | undefined;
  /** Milliseconds until its `exp` at the earliest; 0 for one that is not valid. */
  lifetimeMs: number;
}

/** The service cannot be reached, or refuses this client. */
class IntrospectionError extends Error {}

/** Asks the service (RFC 7662) over connections that are kept open. */
export class Introspector {
  private readonly agent: Agent;
  private readonly authorization: string;
  private readonly address: string;
  /** The guard's own token, if it is bound to a key. */
  private token: Promise<string> | undefined;

  constructor(private readonly settings: GuardSettings) {
    this.agent = agentFor(settings.url, settings.maxConnections);
    this.authorization = basicCredentials(settings.clientId, settings.clientSecret);
    this.address = `${settings.url}/o/introspect`;
  }

  /** Throws an IntrospectionError unless there is an answer. */
  async ask(token: string, userId: string | undefined): Promise<Introspection> {
    const form = new URLSearchParams({ token });
    if (userId !== undefined) form.set('user_id', userId);
    const { agent, address: url, authorization } = this;
    const { timeoutMs, ownKey } = this.settings;
    const headers = { accept: 'application/json' };
    let answer: ServiceAnswer;
    try {
      answer = ownKey
        ? await this.askProven({ agent, url, headers, form, timeoutMs })
        : await exchange({ agent, url, headers: { ...headers, authorization }, form, timeoutMs });
    } catch (error) {
      throw new IntrospectionError(`introspection failed: ${(error as Error).message}`);
    }
    return readIntrospection(answer, this.settings.resource);
  }

  close(): void {
    this.agent.destroy();
  }

  /** With the guard's own token; with a new one if that has ended. */
  private async askProven(request: ServiceRequest): Promise<ServiceAnswer> {
    const used = this.token;
    const answer = await exchangeProven(this.settings, await this.validToken(), request);
    if (answer.status !== 401 || used === undefined) return answer;
    if (this.token === used) this.token = undefined;
    return exchangeProven(this.settings, await this.validToken(), request);
  }

  private validToken(): Promise<string> {
    if (this.token) return this.token;
    const asked = ownToken(this.settings, this.agent, 'introspection');
    this.token = asked;
    asked.catch(() => {
      if (this.token === asked) this.token = undefined;
    });
    return asked;
  }
}

/** Whether a token is for this resource (RFC 8707): without `aud` it is for everybody. With an empty path, a slash makes no difference. */
const isFor = ({ href }: URL, aud: unknown): boolean =>
  aud === undefined || [aud].flat().some((each) => [href, href.replace(/\/$/, '')].includes(each as string));

/** Reads an answer; anything but a well-formed one is an error, never a refusal and never an access. */
function readIntrospection({ status, headers, body }: ServiceAnswer, resource: URL): Introspection {
  if (status !== 200) throw new IntrospectionError(`introspection was answered with ${status}`);
  const answer = parsed(body);
  if (answer?.active === false) return { access: undefined, lifetimeMs: 0 };
  const { scope, client_id: clientId, sub, grant_type: grantType, exp, cnf } = answer ?? {};
  if (
    answer?.active !== true ||
    typeof scope !== 'string' ||
    typeof clientId !== 'string' ||
    typeof sub !== 'string' ||
    typeof exp !== 'number'
  ) {
    throw new IntrospectionError('the answer is not that of an introspection');
  }
  if (!isFor(resource, answer.aud)) return { access: undefined, lifetimeMs: 0 };
  const access = {
    scopes: scope.split(' ').filter((name) => name !== ''),
    clientId,
    userId: grantType === 'client_credentials' ? undefined : sub,
    expiresAt: exp,
    ...(cnf === undefined ? {} : { jkt: thumbprintIn(cnf) }),
  };
  // By the service's own clock, which is written in whole seconds.
  const now = Date.parse(headers.date ?? '');
  const lifetimeMs = exp * 1000 - (Number.isNaN(now) ? Date.now() : now) - 1000;
  return { access, lifetimeMs: Math.max(0, lifetimeMs) };
}

/** A token that is bound in a way that is not known here is one that nobody can prove. */
function thumbprintIn(cnf: unknown): string {
  const { jkt } = (cnf ?? {}) as Record<string, unknown>;
  return typeof jkt === 'string' ? jkt : '';
}

function parsed(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
