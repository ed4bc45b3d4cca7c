import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Client, errors, type Dispatcher } from 'undici';
import { asksForCertificate, type GuardedConnector } from './guarded-connector.js';
import type { HttpExchange } from './http-exchange.js';
import type { HttpFailure } from './http-outcome.js';
import { ResponseStart } from './response-start.js';

/** How long an idle connection is kept, in milliseconds, whatever the receiver offers. */
const KEEP_ALIVE_MS = 10_000;
/** As many as attempts run at a time: a full queue needs no new ones. */
const KEPT_PER_ENDPOINT = 32;
/** The number of endpoints with kept connections, and of these connections; those of the least recently used one are dropped. */
const ENDPOINTS_KEPT = 256;
const KEPT = 2048;
const MAX_HEADER_BYTES = 16 * 1024;

/** One connection to one endpoint, for one request at a time; established with the first request. */
export class EndpointConnection {
  /** How often it was established: once, and again with the next request after it was closed. */
  timesMade = 0;
  /** Whether it can be kept for another request. */
  isOpen = false;
  private readonly client: Client;
  /** Whether its TLS handshake asked for a certificate of ours. */
  certificateAsked = false;
  private connecting?: Socket;
  private responseStart = new ResponseStart();

  constructor(origin: string, connector: GuardedConnector) {
    this.client = new Client(origin, {
      connect: (target, callback) => {
        this.connecting = connector.connect(target, (...[error, socket]) => {
          this.connecting = undefined;
          if (error) {
            callback(error, null);
            return;
          }
          this.certificateAsked = asksForCertificate(socket);
          this.readResponseStarts(socket);
          callback(null, socket);
        });
      },
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The guarded client's own timeout covers everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on('connect', () => {
      this.timesMade++;
      this.isOpen = true;
    });
    this.client.on('disconnect', () => (this.isOpen = false));
  }

  send(request: Dispatcher.DispatchOptions, exchange: HttpExchange): void {
    this.responseStart = exchange.responseStart;
    this.client.dispatch(request, exchange);
  }

  /**
   * Closes it immediately, even while it is being established. Aborting the request is not enough: undici would then open another
   * connection for nothing.
   */
  hangUp(): void {
    this.isOpen = false;
    this.connecting?.destroy(new errors.RequestAbortedError());
    this.client.destroy(new errors.RequestAbortedError(), () => undefined);
  }

  /** undici reads a socket by `read()` only, which from here on returns what belongs to final responses. */
  private readResponseStarts(socket: Socket): void {
    const read = socket.read.bind(socket) as () => Buffer | null;
    socket.read = () => {
      try {
        for (let chunk = read(); chunk !== null; chunk = read()) {
          const passedOn = this.responseStart.passOn(chunk);
          if (passedOn !== null) return passedOn;
        }
      } catch (error) {
        socket.destroy(error as HttpFailure);
      }
      return null;
    };
  }
}

/**
 * Idle connections, kept per URL. Requests never wait for a connection: there are as many as running requests, so an endpoint
 * that hangs holds up no other, not even one on the same host.
 */
export class EndpointConnections {
  private readonly kept = new LRUCache<string, EndpointConnection[]>({
    max: ENDPOINTS_KEPT,
    maxSize: KEPT,
    sizeCalculation: (connections) => Math.max(1, connections.length),
    dispose: (connections) => connections.forEach((each) => each.hangUp()),
  });

  constructor(private readonly connector: GuardedConnector) {}

  /** A kept connection, or a new one. If a kept one has been closed, the request establishes it again. */
  take(target: URL): EndpointConnection {
    return this.kept.get(target.href)?.pop() ?? this.takeNew(target);
  }

  takeNew(target: URL): EndpointConnection {
    return new EndpointConnection(target.origin, this.connector);
  }

  /** Keeps the connection of a finished request if it is still open and there is room. */
  giveBack(target: URL, connection: EndpointConnection): void {
    const kept = (this.kept.get(target.href) ?? []).filter(({ isOpen }) => isOpen);
    if (!connection.isOpen || kept.length >= KEPT_PER_ENDPOINT) {
      connection.hangUp();
      return;
    }
    // This must not close the connections that are already in the list.
    this.kept.set(target.href, [...kept, connection], { noDisposeOnSet: true });
  }

  hangUpAll(): void {
    this.kept.clear();
  }
}
