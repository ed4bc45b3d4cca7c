import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisUrl, type RedisUrl } from '#platform/config/redis-url.js';

/** Timeout for connecting to an address that does not respond, in milliseconds. */
const CONNECT_MS = 1_000;
const RECONNECT_AT_MOST_MS = 500;
const KEEP_ALIVE_MS = 10_000;
/** A connection that the other side does not close is destroyed after this many milliseconds. */
export const DISCONNECT_MS = 100;

const reconnectAfter = (times: number) => Math.min(50 * times, RECONNECT_AT_MOST_MS);

/** Without a connection, commands fail immediately and are never sent twice, because counting is not idempotent. */
const FAIL_FAST: RedisOptions & { disconnectTimeout: number } = {
  // A connection that only listens would not notice that the other side is gone.
  keepAlive: KEEP_ALIVE_MS,
  connectTimeout: CONNECT_MS,
  disconnectTimeout: DISCONNECT_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Nobody handles a failure of the library's own subscription: it would end the process.
  autoResubscribe: false,
  // Whether Redis is available is determined by counting with it, which needs no permission for INFO.
  enableReadyCheck: false,
  disableClientInfo: true,
};

/**
 * The library gives up permanently if sentinels announce a failover just while it asks them for the master. This one starts over
 * until it is disconnected.
 */
class MonitoredRedis extends Redis {
  private isClosed = false;

  constructor(options: RedisOptions) {
    super(options);
    this.on('end', () => {
      if (!this.isClosed) setTimeout(() => this.startOver(), reconnectAfter(1));
    });
  }

  override disconnect(reconnect = false): void {
    if (!reconnect) this.isClosed = true;
    super.disconnect(reconnect);
  }

  private startOver(): void {
    // A failure is an `error` event, as for every attempt.
    if (!this.isClosed) this.connect().catch(() => undefined);
  }
}

/**
 * Connects to the target of REDIS_URL (`parseRedisUrl`): a server, the master that sentinels name, or a cluster. Returns
 * immediately and keeps trying; failures are `error` events. Throws for an invalid address.
 */
export function connectRedis(url: string): Redis | Cluster {
  const target = read(url);
  const { username, password, tls: isTls } = target;
  const tls = isTls ? { tls: {} } : {};
  const credentials = { ...(username ? { username } : {}), ...(password ? { password } : {}) };
  switch (target.kind) {
    case 'server':
      return new Redis(target.url, {
        ...FAIL_FAST,
        enableOfflineQueue: false,
        retryStrategy: reconnectAfter,
      });
    case 'sentinel':
      return new MonitoredRedis({
        ...FAIL_FAST,
        ...credentials,
        ...tls,
        enableOfflineQueue: false,
        retryStrategy: reconnectAfter,
        sentinels: target.hosts,
        name: target.name,
        db: target.db,
        sentinelUsername: target.sentinelUsername,
        sentinelPassword: target.sentinelPassword,
        ...(isTls ? { sentinelTLS: {}, enableTLSForSentinelMode: true } : {}),
        sentinelRetryStrategy: reconnectAfter,
        sentinelCommandTimeout: CONNECT_MS,
        // Sentinels announce a failover. A client that missed the announcement notices when the master has become a replica.
        failoverDetector: true,
        reconnectOnError: ({ message }) => message.startsWith('READONLY'),
      });
    case 'cluster':
      return new Cluster(target.hosts, {
        enableOfflineQueue: false,
        enableReadyCheck: false,
        clusterRetryStrategy: reconnectAfter,
        maxRedirections: 3,
        slotsRefreshTimeout: CONNECT_MS,
        // These apply to all servers of the cluster, including discovered ones.
        redisOptions: { ...FAIL_FAST, ...credentials, ...tls },
      });
  }
}

function read(url: string): RedisUrl {
  try {
    return parseRedisUrl(url);
  } catch {
    // The original error could quote the address, and with it the password.
    throw new Error(
      'REDIS_URL is not a valid address: expected redis[s]://[user][:password]@host[:port][/db]',
    );
  }
}
