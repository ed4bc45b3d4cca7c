import type { FetchBody } from 'openid-client';
import { isAllowedUrl } from './provider-metadata.js';

// For everything: connecting, and the whole answer.
const TIMEOUT_MS = 10_000;
const BODY_MAX_BYTES = 512 * 1024;

/** A provider that could not be reached, did not answer in time, or answered with an error of its own. */
export class ProviderUnreachable extends Error {}

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
      const init: RequestInit = { method, headers, redirect: 'manual', signal: abort.signal };
      return await readResponse(await fetch(address, { ...init, body: body as BodyInit | null }));
    } catch (error) {
      if (error instanceof ProviderUnreachable) throw error;
      const why = abort.signal.aborted ? 'no answer within 10 seconds' : 'no connection';
      throw new ProviderUnreachable(why, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };

/** The answer with its whole body. */
async function readResponse(response: Response): Promise<Response> {
  const { status, headers } = response;
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.length;
    if (size > BODY_MAX_BYTES) throw new ProviderUnreachable('an answer that is too long');
    parts.push(part);
  }
  if (status >= 500) throw new ProviderUnreachable(`status ${status}`);
  return new Response(size === 0 ? null : Buffer.concat(parts), { status, headers });
}
