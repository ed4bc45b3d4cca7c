import { setMaxListeners } from 'node:events';
import type { OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { checkEndpointUrl } from './endpoint-url.js';
import { GuardedConnector } from './guarded-connector.js';
import { HttpExchange, type ExchangeEnd } from './http-exchange.js';
import { HttpFailure, type HttpOutcome } from './http-outcome.js';
import type { ResolveOptions } from './resolve-host.js';

/** What the client goes by; all but the first member is for tests. */
export interface GuardedHttpClientOptions extends ResolveOptions {
  timeoutMs?: number;
  /** Certificate authorities in PEM, in place of the well-known ones. */
  ca?: string;
}

/** Contract §10: 15 s for everything, from the name's resolution to the last byte of the body. */
const TIMEOUT_MS = 15_000;
/** How long a connection that is not used is kept, in milliseconds, whatever the receiver offers. */
const KEEP_ALIVE_MS = 10_000;
/** Connections to one endpoint. Deliveries at once to one endpoint must be fewer, or the rest waits within its time. */
const CONNECTIONS_PER_ENDPOINT = 32;
/** Endpoints whose connections are kept; those unused for longest make room. */
const ENDPOINTS_KEPT = 256;
const MAX_HEADER_BYTES = 16 * 1024;

/** The connections to one endpoint, and how many were ever made. */
interface EndpointPool {
  pool: Pool;
  opened: number;
}

/**
 * Sends POST requests to the endpoints of partners, and to public unicast addresses alone (contract §10). Follows no
 * redirect and reads at most 16 kB. Connections are kept for each URL apart, so that an endpoint that hangs holds
 * up no other, not even one on the same host.
 */
export class GuardedHttpClient implements OnApplicationShutdown {
  private readonly timeoutMs: number;
  private readonly connector: GuardedConnector;
  private readonly pools: LRUCache<string, EndpointPool>;
  private readonly underWay = new Map<HttpExchange, Promise<unknown>>();
  private closing = false;

  constructor(private readonly options: GuardedHttpClientOptions) {
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.connector = new GuardedConnector({ ...options, timeoutMs: this.timeoutMs });
    this.pools = new LRUCache<string, EndpointPool>({
      max: ENDPOINTS_KEPT,
      // Waits for the requests on it, and takes no more.
      dispose: ({ pool }) => void pool.close().catch(() => undefined),
    });
  }

  /**
   * Posts the body and says what came of it; throws for nothing that a receiver does. `signal` ends it early. A
   * connection that was kept alive and turns out to be closed is replaced once, within the same time.
   */
  async post(
    url: string,
    headers: Record<string, string>,
    body: string,
    signal?: AbortSignal,
  ): Promise<HttpOutcome> {
    if (this.closing || signal?.aborted) return { kind: 'aborted' };
    const begun = performance.now();
    // Checked when it was saved, but the rules may be other ones today.
    const checked = checkEndpointUrl(url, this.options);
    if (checked.url === undefined) {
      return {
        kind: 'failure',
        failure: 'blocked_address',
        detail: `The URL ${checked.reason}.`,
        durationMs: 0,
      };
    }
    const target = new URL(checked.url);
    const endpoint = this.poolOf(target);
    const openedBefore = endpoint.opened;
    const first = await this.exchange(endpoint, target, headers, body, begun, signal);
    // Where a connection was made meanwhile, this request may have been on it: then the receiver itself hung up.
    const wasKept = first.lost && endpoint.opened === openedBefore;
    if (!wasKept || this.closing || signal?.aborted) return first.outcome;
    if (this.pools.peek(target.href) === endpoint) this.pools.delete(target.href);
    const fresh = this.poolOf(target);
    return (await this.exchange(fresh, target, headers, body, begun, signal)).outcome;
  }

  /** Waits until what is under way has ended, which takes as long as a time-out at most, and takes no more. */
  async close(): Promise<void> {
    this.closing = true;
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay.values());
    await this.destroy();
  }

  /** Ends everything at once: what is under way is aborted. */
  async destroy(): Promise<void> {
    this.closing = true;
    for (const exchange of this.underWay.keys()) exchange.abort();
    this.connector.giveUp();
    const pools = [...this.pools.values()];
    await Promise.all(pools.map(({ pool }) => pool.destroy()));
    this.pools.clear();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  private async exchange(
    endpoint: EndpointPool,
    target: URL,
    headers: Record<string, string>,
    body: string,
    begun: number,
    signal?: AbortSignal,
  ): Promise<ExchangeEnd> {
    const exchange = new HttpExchange(begun);
    const abort = () => exchange.abort();
    const timeLeft = Math.max(begun + this.timeoutMs - performance.now(), 0);
    const timer = setTimeout(() => exchange.fail(this.timeout(exchange)), timeLeft);
    if (signal) {
      // One signal may end any number of requests, and Node takes more than ten listeners for a leak.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort);
    }
    this.underWay.set(exchange, exchange.end);
    try {
      const path = target.pathname + target.search;
      endpoint.pool.dispatch({ path, method: 'POST', headers, body }, exchange);
      return await exchange.end;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.underWay.delete(exchange);
    }
  }

  private poolOf(target: URL): EndpointPool {
    const known = this.pools.get(target.href);
    if (known) return known;
    const pool = new Pool(target.origin, {
      connect: this.connector.connect,
      connections: CONNECTIONS_PER_ENDPOINT,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The one time-out for everything is our own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const endpoint: EndpointPool = { pool, opened: 0 };
    pool.on('connect', () => endpoint.opened++);
    this.pools.set(target.href, endpoint);
    return endpoint;
  }

  private timeout(exchange: HttpExchange): HttpFailure {
    const missing = {
      connecting: 'No connection could be made',
      waiting: 'There was no answer',
      reading: 'The answer did not end',
    }[exchange.stage];
    return new HttpFailure('timeout', `${missing} within ${this.timeoutMs / 1000} s.`);
  }
}
