import { setMaxListeners } from 'node:events';
import type { OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { checkEndpointUrl, isOnThisMachine } from './endpoint-url.js';
import { EndpointConnections, type EndpointConnection } from './endpoint-connections.js';
import { GuardedConnector } from './guarded-connector.js';
import { HttpExchange, type ExchangeEnd } from './http-exchange.js';
import { HttpFailure, type HttpOutcome } from './http-outcome.js';
import type { ResolveOptions } from './resolve-host.js';
import { apiWords, type Violation } from '#platform/http/problems/violation.js';

/** Options of the client; those after the first two are for tests. */
export interface GuardedHttpClientOptions extends ResolveOptions {
  /** The one URL that may be internal: where the demonstration receives its own events. */
  ownReceiver?: string;
  /** Whether endpoints in sandboxes may be on this machine, as in the demonstration. */
  sandboxesReachThisMachine?: boolean;
  timeoutMs?: number;
  /** Certificate authorities in PEM instead of the well-known ones. */
  ca?: string;
}

/** What all requests say of themselves. */
export const USER_AGENT = 'Charging-Data-Service-Webhooks/1.0';

/** Contract §10: 15 s for everything, from name resolution to the last byte of the body. */
export const TIMEOUT_MS = 15_000;

/** How one request differs. */
interface PostOptions {
  /** The endpoint is of a client in a sandbox. */
  isSandbox?: boolean;
  /** Less time than the others have. */
  timeoutMs?: number;
}

/**
 * Sends POST requests to the endpoints of partners, only to public unicast addresses (contract §10). Follows no redirects and
 * reads at most 16 kB. The caller must limit the number of concurrent requests.
 */
export class GuardedHttpClient implements OnApplicationShutdown {
  private readonly timeoutMs: number;
  private readonly connections: EndpointConnections;
  private readonly underWay = new Set<HttpExchange>();
  /** URLs that were checked: at their first use, because the rules may have changed since they were saved. */
  private readonly targets = new LRUCache<string, URL | Violation>({
    max: 1000,
    memoMethod: (url) => {
      const checked = checkEndpointUrl(url, this.options);
      return checked.url === undefined ? checked.reason : new URL(checked.url);
    },
  });
  private readonly toThisMachine: GuardedHttpClient | undefined;
  private closing = false;

  constructor(private readonly options: GuardedHttpClientOptions) {
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.connections = new EndpointConnections(new GuardedConnector(options));
    const { ownReceiver, sandboxesReachThisMachine, ...others } = options;
    this.toThisMachine =
      ownReceiver === undefined && !sandboxesReachThisMachine
        ? undefined
        : new GuardedHttpClient({ ...others, allowPrivateAddresses: true });
  }

  /**
   * Posts the body and returns the outcome; never throws because of a receiver. `signal` aborts it. A kept-alive connection that turns out to be closed is replaced once, within the same timeout.
   */
  async post(
    url: string,
    headers: Record<string, string>,
    body: string,
    signal?: AbortSignal,
    { isSandbox = false, timeoutMs = this.timeoutMs }: PostOptions = {},
  ): Promise<HttpOutcome> {
    if (this.closing || signal?.aborted) return { kind: 'aborted' };
    if (this.toThisMachine && this.mayBeHere(url, isSandbox)) {
      return this.toThisMachine.post(url, headers, body, signal, { timeoutMs });
    }
    const begun = performance.now();
    const target = this.targets.memo(url);
    if (!(target instanceof URL)) {
      const detail = `The URL ${apiWords(target)}.`;
      return { kind: 'failure', failure: 'blocked_address', detail, durationMs: 0 };
    }
    const connection = this.connections.take(target);
    const timesMade = connection.timesMade;
    const limit = { begun, timeoutMs, signal };
    const first = await this.exchange(connection, target, headers, body, limit);
    const wasKept = connection.timesMade === timesMade;
    if (!first.lost || !wasKept || this.closing || signal?.aborted) return first.outcome;
    const fresh = this.connections.takeNew(target);
    return (await this.exchange(fresh, target, headers, body, limit)).outcome;
  }

  /** Accepts no more requests and waits until those in progress have ended, which takes one timeout at most. */
  async close(): Promise<void> {
    this.closing = true;
    await Promise.allSettled([this.toThisMachine?.close(), ...[...this.underWay].map(({ end }) => end)]);
    this.destroy();
  }

  /** Ends everything immediately: requests in progress are aborted. */
  destroy(): void {
    this.closing = true;
    for (const exchange of this.underWay) exchange.abort();
    this.connections.hangUpAll();
    this.toThisMachine?.destroy();
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  private mayBeHere(url: string, isSandbox: boolean): boolean {
    const { ownReceiver, sandboxesReachThisMachine } = this.options;
    return url === ownReceiver || (isSandbox && sandboxesReachThisMachine === true && isOnThisMachine(url));
  }

  private async exchange(
    connection: EndpointConnection,
    target: URL,
    headers: Record<string, string>,
    body: string,
    { begun, timeoutMs, signal }: Limit,
  ): Promise<ExchangeEnd> {
    const exchange = new HttpExchange(begun, connection);
    const abort = () => exchange.abort();
    const timeLeft = Math.max(begun + timeoutMs - performance.now(), 0);
    const timer = setTimeout(() => exchange.fail(timeoutOf(exchange, timeoutMs)), timeLeft);
    if (signal) {
      // One signal may abort any number of requests, and Node warns of a leak above ten listeners.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', abort);
    }
    this.underWay.add(exchange);
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
}

/** When a request ends: so long after its beginning, or when it is aborted. */
interface Limit {
  begun: number;
  timeoutMs: number;
  signal?: AbortSignal;
}

function timeoutOf({ stage }: HttpExchange, timeoutMs: number): HttpFailure {
  const missing = {
    connecting: 'No connection could be established',
    waiting: 'There was no response',
    reading: 'The response was not complete',
  }[stage];
  return new HttpFailure('timeout', `${missing} within ${timeoutMs / 1000} s.`);
}
