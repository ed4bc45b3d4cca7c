import http from 'node:http';
import https from 'node:https';

const MOST_BYTES = 65_536;

/** A request to the service. */
export interface ServiceRequest {
  agent: http.Agent;
  url: string;
  headers: Record<string, string>;
  /** A form: the request is then a POST. */
  form?: URLSearchParams;
  /** JSON, likewise. */
  json?: string;
  /** For everything, also waiting for a connection. */
  timeoutMs: number;
}

/** An answer whose body was read. */
export interface ServiceAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** Connections that are kept open between requests. */
export const agentFor = (url: string, maxSockets: number): http.Agent =>
  url.startsWith('https:')
    ? new https.Agent({ keepAlive: true, maxSockets })
    : new http.Agent({ keepAlive: true, maxSockets });

/** RFC 6749 §2.3.1: both parts form-urlencoded before base64. */
export function basicCredentials(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ v: text }).toString().slice(2);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}

/** Starts a request; redirects are not followed. */
export function startRequest({ agent, url, headers, form, json }: Omit<ServiceRequest, 'timeoutMs'>) {
  const body = json ?? form?.toString();
  const request = (url.startsWith('https:') ? https : http).request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...headers,
      ...(body === undefined
        ? {}
        : {
            'content-type': json === undefined ? 'application/x-www-form-urlencoded' : 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
    },
  });
  request.end(body);
  return request;
}

/**
 * Sends a request and reads the answer. A connection that was closed just as it was used again is tried once more, because the
 * requests of this package change nothing, or nothing when they are repeated.
 */
export async function exchange(request: ServiceRequest): Promise<ServiceAnswer> {
  const deadline = performance.now() + request.timeoutMs;
  try {
    return await once(request, request.timeoutMs);
  } catch (error) {
    if (!(error instanceof ClosedConnectionError)) throw error;
    return once(request, Math.max(1, deadline - performance.now()));
  }
}

class ClosedConnectionError extends Error {}

function once(asked: ServiceRequest, timeoutMs: number): Promise<ServiceAnswer> {
  return new Promise((resolve, reject) => {
    const request = startRequest(asked);
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      const { code } = error as NodeJS.ErrnoException;
      const isClosed = request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
      reject(isClosed ? new ClosedConnectionError(error.message) : error);
    };
    request.on('error', fail);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) request.destroy(new Error('the answer is too large'));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        const body = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode!, headers: response.headers, body });
      });
    });
  });
}
