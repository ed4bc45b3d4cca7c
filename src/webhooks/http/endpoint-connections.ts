import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Client, errors, type Dispatcher } from 'undici';
import type { GuardedConnector } from './guarded-connector.js';

/** How long a connection that is not used is kept, in milliseconds, whatever the receiver offers. */
const KEEP_ALIVE_MS = 10_000;
const KEPT_PER_ENDPOINT = 8;
/** Endpoints whose connections are kept; those unused for longest make room. */
const ENDPOINTS_KEPT = 256;
const MAX_HEADER_BYTES = 16 * 1024;

/** One connection to one endpoint, for one request at a time; it is made with the first request. */
export class EndpointConnection {
  /** How often it was made: once, and again with the next request after it was closed. */
  timesMade = 0;
  /** Whether it can be kept for another request. */
  isOpen = false;
  private readonly client: Client;
  private connecting?: Socket;

  constructor(origin: string, connector: GuardedConnector) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.connecting = connector.connect(target, (...result) => {
          this.connecting = undefined;
          callback(...result);
        });
      },
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The one time-out for everything is the guarded client's own.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('connect', () => {
      this.timesMade++;
      this.isOpen = true;
    });
    this.client.on('disconnect', () => (this.isOpen = false));
  }

  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.client.dispatch(request, handler);
  }

  /**
   * Closes it at once, also while it is being made. To abort the request would not do: undici then makes another
   * connection, for nothing.
   */
  hangUp(): void {
    this.isOpen = false;
    this.connecting?.destroy(new errors.RequestAbortedError());
    this.client.destroy(new errors.RequestAbortedError(), () => undefined);
  }
}

/**
 * The connections that are kept for another request, for each URL apart: requests wait for none, so that there are as
 * many connections as requests under way, and an endpoint that hangs holds up no other, not even on its own host.
 */
export class EndpointConnections {
  private readonly kept = new LRUCache<string, EndpointConnection[]>({
    max: ENDPOINTS_KEPT,
    dispose: (connections) => connections.forEach((each) => each.hangUp()),
  });

  constructor(private readonly connector: GuardedConnector) {}

  /** One that was kept, or a new one. One that was closed meanwhile is made again by the request. */
  take(target: URL): EndpointConnection {
    return this.kept.get(target.href)?.pop() ?? this.takeNew(target);
  }

  takeNew(target: URL): EndpointConnection {
    return new EndpointConnection(target.origin, this.connector);
  }

  /** Keeps one whose request is over, where it is open still and there is room. */
  giveBack(target: URL, connection: EndpointConnection): void {
    const kept = (this.kept.get(target.href) ?? []).filter(({ isOpen }) => isOpen);
    if (!connection.isOpen || kept.length >= KEPT_PER_ENDPOINT) {
      connection.hangUp();
      return;
    }
    // Not an end of those that are in the list already.
    this.kept.set(target.href, [...kept, connection], { noDisposeOnSet: true });
  }

  hangUpAll(): void {
    this.kept.clear();
  }
}
