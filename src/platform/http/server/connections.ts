import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { Counter, Gauge } from 'prom-client';
import type { Settings } from '#platform/config/settings.js';
import { addressKey } from './address-key.js';
import { addressIn, trustOf } from './forwarded-address.js';

// Slow senders are disconnected, because all valid requests are short.
const REQUEST_TIMEOUT_MS = 15_000;
const HEADERS_TIMEOUT_MS = 10_000;
const LOOK_EVERY_MS = 2_000;
// Between requests. Not whole seconds, so that it differs from the limit within them.
const KEEP_ALIVE_MS = 72_500;

const openConnections = new Gauge({ name: 'connections_open', help: 'Connections to this instance' });
const closed = new Counter({
  name: 'connections_closed_total',
  help: 'Connections that this instance closed: too many in all or of one address, or what was sent is not read',
  labelNames: ['reason'] as const,
});
for (const reason of ['too_many', 'too_many_of_address', 'not_read']) closed.inc({ reason }, 0);

/**
 * Creates the HTTP server, which limits open connections, in total and per address, and disconnects clients that do not read
 * their response (contract §14). A connection of a trusted proxy only counts in the total, because it carries requests of many
 * clients.
 */
export function connectionServer(settings: Settings): (handler: RequestListener) => Server {
  const isTrusted = trustOf(settings.trustedProxies);
  const ofAddress = new Map<string, number>();

  const count = (socket: Socket): void => {
    openConnections.inc();
    socket.once('close', () => openConnections.dec());
    const address = addressIn(socket.remoteAddress ?? '');
    if (address === undefined || isTrusted(address)) return;
    const key = addressKey(address);
    const others = ofAddress.get(key) ?? 0;
    if (others >= settings.connectionsPerAddress) {
      closed.inc({ reason: 'too_many_of_address' });
      socket.destroy();
      return;
    }
    ofAddress.set(key, others + 1);
    socket.once('close', () => {
      const left = ofAddress.get(key)! - 1;
      if (left === 0) ofAddress.delete(key);
      else ofAddress.set(key, left);
    });
  };

  return (handler) => {
    const server = createServer(
      {
        requestTimeout: REQUEST_TIMEOUT_MS,
        headersTimeout: HEADERS_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: LOOK_EVERY_MS,
        // A hook refuses requests without one: Node's own answer lacks our headers.
        requireHostHeader: false,
      },
      handler,
    );
    // RFC 9110 §10.1.1 lets a server ignore what it does not know. Node's own answer (417) lacks our headers too.
    server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
    server.maxConnections = settings.connectionsMax;
    server.timeout = settings.connectionIdle * 1000;
    server.prependListener('connection', count);
    server.on('drop', () => closed.inc({ reason: 'too_many' }));
    server.on('timeout', (socket: Socket) => {
      const isWithinRequest = socket.timeout === server.timeout;
      const isUnread = socket.writableLength > 0;
      // With nothing to read, the client is waiting for this service.
      if (isWithinRequest && !isUnread) return;
      if (isUnread) closed.inc({ reason: 'not_read' });
      socket.destroy();
    });
    return server;
  };
}
