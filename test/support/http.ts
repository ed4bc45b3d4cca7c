import { Agent, request } from 'node:http';
import { gunzipSync, inflateSync } from 'node:zlib';
import { openApiErrors } from './openapi-judge.js';

/** A response whose body was read: `json` where it is JSON. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // Tests read bodies of many shapes.
  json: any; // oxlint-disable-line typescript/no-explicit-any
}

export interface HttpOptions {
  method?: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as a form; pairs may repeat a name. */
  form?: Record<string, string | undefined> | [string, string][];
  /** Sent unchanged. */
  body?: string | Buffer;
  bearer?: string;
  basic?: { id: string; secret: string };
}

// An idle connection ends here long before it ends at the service, which could otherwise close it while a request is on its way.
const agent = new Agent({ keepAlive: true, timeout: 20_000 });
/** What fetch() sends, too. */
const USUAL = {
  accept: '*/*',
  'accept-language': '*',
  'sec-fetch-mode': 'cors',
  'user-agent': 'node',
  'accept-encoding': 'gzip, deflate',
};
const DECODE: Record<string, (body: Buffer) => Buffer> = { gzip: gunzipSync, deflate: inflateSync };
const utf8 = new TextDecoder();

type Exchange = (
  url: URL,
  head: { method: string; headers: Headers },
  body: string | Buffer | undefined,
) => Promise<Omit<Answer, 'json'>>;

const fetched: Exchange = async (url, head, body) => {
  const response = await fetch(url, { ...head, body: body as BodyInit | undefined, redirect: 'manual' });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

/** As with fetch(), which takes more than twice as much of the processor for each request. */
const exchange: Exchange = (url, { method, headers }, body) => {
  if (body !== undefined) headers.set('content-length', String(Buffer.byteLength(body)));
  const sent = { ...USUAL, ...Object.fromEntries(headers) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers: sent, agent }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', (cause) => reject(new TypeError('terminated', { cause })));
      response.on('end', () => {
        const received = new Headers();
        const { rawHeaders } = response;
        for (let n = 0; n < rawHeaders.length; n += 2) received.append(rawHeaders[n]!, rawHeaders[n + 1]!);
        const whole = Buffer.concat(parts);
        const decode = whole.length > 0 ? DECODE[received.get('content-encoding') ?? ''] : undefined;
        const text = utf8.decode(decode ? decode(whole) : whole);
        resolve({ status: response.statusCode!, headers: received, text });
      });
    });
    asked.on('error', (cause) => reject(new TypeError('fetch failed', { cause })));
    asked.end(body);
  });
};

/** A plain HTTP client of one instance; redirects are not followed. */
export class Http {
  /** `mayBeOlder`: answers of an earlier release lack what this one has added, so they are not compared with its description. */
  constructor(
    readonly url: string,
    private readonly mayBeOlder = false,
  ) {}

  async send(path: string, options: HttpOptions = {}): Promise<Answer> {
    const headers = new Headers(options.headers);
    let body: string | Buffer | undefined = options.body;
    if (options.json !== undefined) {
      body = JSON.stringify(options.json);
      headers.set('content-type', 'application/json');
    }
    if (options.form !== undefined) {
      const pairs = Array.isArray(options.form) ? options.form : Object.entries(options.form);
      body = new URLSearchParams(
        pairs.filter((pair): pair is [string, string] => pair[1] !== undefined),
      ).toString();
      headers.set('content-type', 'application/x-www-form-urlencoded');
    }
    if (options.bearer !== undefined) headers.set('authorization', `Bearer ${options.bearer}`);
    if (options.basic) headers.set('authorization', basicHeader(options.basic));
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    const url = new URL(path, this.url);
    const { pathname } = url;
    if (typeof options.body === 'string' && !headers.has('content-type'))
      headers.set('content-type', 'text/plain;charset=UTF-8');
    const answer = await (url.protocol === 'http:' ? exchange : fetched)(url, { method, headers }, body);
    const errors = this.mayBeOlder ? [] : openApiErrors({ method, path: pathname, ...answer });
    if (errors.length > 0)
      throw new Error(`${answer.status} of ${pathname} is not as described: ${errors.join('; ')}`);
    const isJson = /json/.test(answer.headers.get('content-type') ?? '') && answer.text !== '';
    return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined };
  }

  get(path: string, options: HttpOptions = {}): Promise<Answer> {
    return this.send(path, { method: 'GET', ...options });
  }

  /** A token request, with the client in the Basic header if one is given. */
  token(form: HttpOptions['form'], basic?: { id: string; secret: string }): Promise<Answer> {
    return this.send('/o/token', { form, ...(basic ? { basic } : {}) });
  }
}

/** Its status, and where it leads. */
export const placeOf = ({ status, headers }: Pick<Answer, 'status' | 'headers'>): [number, string | null] => [
  status,
  headers.get('location'),
];

/** Its status, and what a problem says. */
export const problemOf = ({ status, json }: Answer): [number, unknown] => [status, json?.detail];

/** The members that a refusal names. */
export const membersIn = ({ json }: Answer): string[] => Object.keys((json?.field_errors ?? {}) as object);

/** The addresses of the `Link` header, by their relation. */
export const linksOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(
    [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="([^"]+)"/g)].map(([, url, rel]) => [
      rel!,
      url!,
    ]),
  );

/** RFC 6749 §2.3.1: both parts form-urlencoded before base64. */
export function basicHeader({ id, secret }: { id: string; secret: string }): string {
  const encode = (text: string) => new URLSearchParams({ v: text }).toString().slice(2);
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`;
}
