import { DpopKey } from './dpop.js';
import type { ServiceOptions } from './options.js';

const FEED = '/v2/events';
const WAIT_SECONDS = 20;
const ANSWER_MS = 15_000;
/** A token is replaced this long before it expires. */
const EARLY_MS = 30_000;
// A timer of more than 24 days would fire at once.
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** An event as the service delivers it. */
export interface FeedEvent {
  id: string;
  type: string;
}

/** A page of the feed, and where it goes on. */
export interface FeedPage {
  events: FeedEvent[];
  /** The position where it goes on. */
  after: string;
  next: string;
}

/** Trying again does not help. */
export class FatalError extends Error {}

/** Events before this position are not kept any more. */
export class PositionLostError extends Error {}

/** Worth trying again, after a while. */
export class PassingError extends Error {
  constructor(
    message: string,
    readonly retryAfterMs?: number,
  ) {
    super(message);
  }
}

/** Answered at once: until the first answer there is no position to go on from, whatever happens in the meantime. */
export const FIRST_PAGE = `${FEED}?after=latest`;
/** Begins with the oldest event that is kept. */
export const OLDEST_PAGE = FEED;

/** What follows a position; waits for it. */
export const pageAfter = (after: string): string =>
  `${FEED}?${new URLSearchParams({ after, wait: String(WAIT_SECONDS) }).toString()}`;

/** Reads the feed of events (contract §21 of the service) with a token of the client. */
export class Service {
  private token: { value: string; until: number } | undefined;

  constructor(
    private readonly options: Omit<ServiceOptions, 'dpopKey'>,
    private readonly key?: DpopKey,
  ) {}

  /** With the key that the options name; throws a UsageError if it cannot be used. */
  static async of(options: ServiceOptions): Promise<Service> {
    const { dpopKey } = options;
    return new Service(options, dpopKey === undefined ? undefined : await DpopKey.open(dpopKey));
  }

  /** Reads a page; all but the first wait for the events after a position. Throws one of the errors above, or the reason of the signal. */
  async read(page: string, stop: AbortSignal): Promise<FeedPage> {
    const response = await this.ask(page, stop);
    if (response.status === 401) {
      await response.body?.cancel();
      // Revoked, or of before a restart: a new one may do.
      this.token = undefined;
      throw new PassingError('the service refused the token');
    }
    if (response.status !== 200) throw await errorOf(response);
    const after = nextOf(response.headers.get('link'), this.options.url);
    if (after === undefined) throw new PassingError('the answer does not say where it goes on');
    const events: unknown = await response.json().catch(() => undefined);
    if (!Array.isArray(events) || !events.every(isEvent))
      throw new PassingError('the answer is no list of events');
    return { events, after, next: pageAfter(after) };
  }

  private async ask(page: string, stop: AbortSignal): Promise<Response> {
    const token = await this.validToken(stop);
    return this.send(new URL(page, this.options.url), stop, {
      limitMs: WAIT_SECONDS * 1000 + ANSWER_MS,
      headers: { accept: 'application/json' },
      token,
    });
  }

  private async validToken(stop: AbortSignal): Promise<string> {
    if (this.token && performance.now() < this.token.until) return this.token.value;
    const { url, clientId, clientSecret } = this.options;
    const encode = (text: string) => new URLSearchParams({ v: text }).toString().slice(2);
    const basic = Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64');
    const response = await this.send(new URL('/o/token', url), stop, {
      limitMs: ANSWER_MS,
      headers: { authorization: `Basic ${basic}`, accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    if (response.status !== 200) throw await errorOf(response);
    const { access_token: value, expires_in: seconds, token_type: type } = await membersOf(response);
    if (typeof value !== 'string') throw new PassingError('the answer of the token endpoint has no token');
    if (this.key && String(type).toLowerCase() !== 'dpop')
      throw new FatalError('the service does not bind tokens to a key (DPoP): leave --dpop-key out');
    const lifetime = typeof seconds === 'number' ? seconds * 1000 : 0;
    this.token = { value, until: performance.now() + Math.max(1_000, lifetime - EARLY_MS) };
    return value;
  }

  /** Sends a request, with a proof where there is a key: once more if the service wants another nonce in it (RFC 9449 §8). */
  private async send(url: URL, stop: AbortSignal, sent: Sent): Promise<Response> {
    const { key } = this;
    const { body, token, limitMs } = sent;
    const once = () => {
      const headers: Record<string, string> = { ...sent.headers };
      if (token !== undefined) headers.authorization = `${key ? 'DPoP' : 'Bearer'} ${token}`;
      if (key) headers.dpop = key.proof(body ? 'POST' : 'GET', url, token);
      const limit = AbortSignal.timeout(limitMs);
      return request(url, stop, limit, { ...(body ? { method: 'POST', body } : {}), headers });
    };
    const response = await once();
    if (!key?.take(response.headers) || (response.status !== 400 && response.status !== 401)) return response;
    await response.body?.cancel();
    const again = await once();
    key.take(again.headers);
    return again;
  }
}

/** A request: a POST if it has a body. */
interface Sent {
  limitMs: number;
  headers: Record<string, string>;
  body?: URLSearchParams;
  token?: string;
}

async function request(
  url: URL,
  stop: AbortSignal,
  limit: AbortSignal,
  init: RequestInit,
): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any([stop, limit]) });
  } catch (error) {
    stop.throwIfAborted();
    throw new PassingError(`the service cannot be reached: ${reasonOf(error)}`);
  }
}

/** What a failed `fetch` says in few words. */
export function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return 'no answer in time';
  return cause?.code ?? cause?.message ?? message;
}

async function errorOf(response: Response): Promise<Error> {
  const { status, headers } = response;
  const body = await membersOf(response);
  const words = [body.error_description, body.detail].find((each) => typeof each === 'string');
  const message = `the service answered ${status}${words === undefined ? '' : `: ${words}`}`;
  if (status === 400 && Object.hasOwn((body.field_errors as object | undefined) ?? {}, 'after')) {
    return new PositionLostError(message);
  }
  // 408: the request did not arrive in time, as when this machine slept.
  if (status === 408 || status === 429 || status >= 500) {
    return new PassingError(message, retryAfterOf(headers));
  }
  return new FatalError(message);
}

/** The members of a JSON object; none if the answer is anything else, as that of a proxy may be. */
async function membersOf(response: Response): Promise<Record<string, unknown>> {
  const body: unknown = await response.json().catch(() => undefined);
  return (body ?? {}) as Record<string, unknown>;
}

/** Milliseconds; undefined for a date, and for what is no number of seconds. */
function retryAfterOf(headers: Headers): number | undefined {
  const seconds = headers.get('retry-after') ?? '';
  return /^\d+$/.test(seconds) ? Math.min(Number(seconds) * 1000, LONGEST_RETRY_AFTER_MS) : undefined;
}

/**
 * The position that the link with `rel="next"` names. Only the position is taken from it: the token goes to nothing but the feed of the service
 * that was given, which may be known to itself by another name.
 */
function nextOf(link: string | null, base: string): string | undefined {
  for (const [, target, parameters] of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    if (!/;\s*rel="?next"?/i.test(parameters!)) continue;
    const after = URL.canParse(target!, base) ? new URL(target!, base).searchParams.get('after') : null;
    return after ?? undefined;
  }
  return undefined;
}

const isEvent = (value: unknown): value is FeedEvent => {
  const { id, type } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && typeof type === 'string';
};
