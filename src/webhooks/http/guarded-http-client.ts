import { setMaxListeners } from 'node:events';
import type { OnApplicationShutdown } from '@nestjs/common';
import { checkEndpointUrl } from './endpoint-url.js';
import { EndpointConnections, type EndpointConnection } from './endpoint-connections.js';
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
/**
 * Sends POST requests to the endpoints of partners, and to public unicast addresses alone (contract §10). Follows no
 * redirect and reads at most 16 kB. How many requests are under way at once is for the caller to bound.
 */
export class GuardedHttpClient implements OnApplicationShutdown {
  private readonly timeoutMs: number;
  private readonly connections: EndpointConnections;
  private readonly underWay = new Map<HttpExchange, Promise<unknown>>();
  private closing = false;

  constructor(private readonly options: GuardedHttpClientOptions) {
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.connections = new EndpointConnections(
      new GuardedConnector({ ...options, timeoutMs: this.timeoutMs }),
    );
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
    const connection = this.connections.take(target);
    const timesMade = connection.timesMade;
    const first = await this.exchange(connection, target, headers, body, begun, signal);
    const wasKept = connection.timesMade === timesMade;
    if (!first.lost || !wasKept || this.closing || signal?.aborted) return first.outcome;
    const fresh = this.connections.takeNew(target);
    return (await this.exchange(fresh, target, headers, body, begun, signal)).outcome;
  }

  /** Waits until what is under way has ended, which takes as long as a time-out at most, and takes no more. */
  async close(): Promise<void> {
    this.closing = true;
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay.values());
    this.destroy();
  }

  /** Ends everything at once: what is under way is aborted. */
  destroy(): void {
    this.closing = true;
    for (const exchange of this.underWay.keys()) exchange.abort();
    this.connections.hangUpAll();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  private async exchange(
    connection: EndpointConnection,
    target: URL,
    headers: Record<string, string>,
    body: string,
    begun: number,
    signal?: AbortSignal,
  ): Promise<ExchangeEnd> {
    const exchange = new HttpExchange(begun, () => connection.hangUp());
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
      connection.send({ path, method: 'POST', headers, body }, exchange);
      return await exchange.end;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.underWay.delete(exchange);
      if (this.closing) connection.hangUp();
      else this.connections.giveBack(target, connection);
    }
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
