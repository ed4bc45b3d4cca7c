import type { FetchBody } from 'openid-client';
import {
  Agent,
  EnvHttpProxyAgent,
  fetch,
  getGlobalDispatcher,
  type BodyInit,
  type Dispatcher,
  type Headers as HeadersOfFetch,
  type Response as ResponseOfFetch,
} from 'undici';
import { lookUpLocally } from '#platform/http/names/names.js';
import { bodyUpTo } from '#platform/http/received-body.js';
import type { SignInRefusalReason } from '../refusals.js';
import { isAllowedUrl } from './provider-metadata.js';

// For everything, from connecting to the end of the response.
const TIMEOUT_MS = 10_000;
const BODY_MAX_BYTES = 512 * 1024;

/** A response that is wrong at the level of HTTP, or none at all, so that tokens and claims need not be checked. */
export class ProviderFailure extends Error {
  constructor(
    readonly reason: SignInRefusalReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

// The name of a provider that is out of order must not hold up other names, or passwords, which are checked on the same threads.
const CONNECTIONS = new Agent({ connect: { lookup: lookUpLocally } });
/** Where Node.js was told to use a proxy for all requests (NODE_USE_ENV_PROXY), the proxy looks names up. */
const connections = (): Dispatcher | undefined =>
  getGlobalDispatcher().constructor.name === EnvHttpProxyAgent.name ? undefined : CONNECTIONS;

interface Init {
  method?: string;
  headers?: Record<string, string> | Headers;
  body?: FetchBody;
}

/**
 * Sends the requests to one provider: with a time limit, a limit for the body, and without redirects. Only https, and http to loopback
 * addresses for an issuer that is there itself.
 */
export const providerFetch =
  (issuer: URL) =>
  async (address: string, { method, headers, body }: Init = {}): Promise<Response> => {
    if (!isAllowedUrl(address, issuer)) throw new Error('The provider names an address that is not https.');
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const response = await fetch(address, {
        ...{ method, redirect: 'manual', signal: abort.signal, dispatcher: connections() },
        headers: Object.fromEntries(new Headers(headers)),
        body: body as BodyInit | null,
      });
      return judged(await readResponse(response), method);
    } catch (error) {
      if (error instanceof ProviderFailure) throw error;
      const why = abort.signal.aborted ? 'no answer within 10 seconds' : 'no connection';
      throw new ProviderFailure('provider_unavailable', why, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };

interface Answer {
  status: number;
  headers: HeadersOfFetch;
  body: Buffer<ArrayBuffer>;
}

/** The answer with its whole body. */
async function readResponse({ status, headers, body }: ResponseOfFetch): Promise<Answer> {
  const whole = body ? await bodyUpTo(BODY_MAX_BYTES, body) : Buffer.alloc(0);
  if (!whole) throw new ProviderFailure('provider_unavailable', 'an answer that is too long');
  return { status, headers, body: whole };
}

/** The response, if it is one that a provider may send; others check its content. */
function judged({ status, headers, body }: Answer, method?: string): Response {
  const fail = (reason: SignInRefusalReason, what = ''): never => {
    throw new ProviderFailure(reason, `status ${status}${what}`);
  };
  if (status >= 500) fail('provider_unavailable');
  if (status === 429) fail('provider_busy');
  if (status >= 300 && status < 400) fail('provider_redirects', ', which is not followed');
  // Only the token endpoint is sent a POST. By RFC 6749 §5.2 its 401 is about the client, whatever the body says.
  if (status === 401 && method === 'POST') fail('client_refused', ' of the token endpoint');
  // A 401 of the userinfo endpoint says why in a header.
  if (status !== 401 && !isReadable(body.toString())) fail('provider_answer_unreadable', ' without JSON');
  return new Response(body.length === 0 ? null : body, { status, headers: [...headers] });
}

/** JSON, or a signed or encrypted answer of the userinfo endpoint. */
function isReadable(text: string): boolean {
  if (/^[\w-]+(\.[\w-]*){2,4}$/.test(text)) return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
