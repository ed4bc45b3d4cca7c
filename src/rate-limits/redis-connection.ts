import { Cluster, Redis, type RedisOptions } from 'ioredis';

/** How long a connection to an address that does not answer is tried, in milliseconds. */
const CONNECT_MS = 1_000;
const RECONNECT_AT_MOST_MS = 500;
/** After this long, in milliseconds, a connection that the other side does not end is torn down. */
export const DISCONNECT_MS = 100;

const reconnectAfter = (times: number) => Math.min(50 * times, RECONNECT_AT_MOST_MS);

/** Commands fail at once while there is no connection, and are never sent twice: counting is not repeatable. */
const FAIL_FAST: RedisOptions & { disconnectTimeout: number } = {
  connectTimeout: CONNECT_MS,
  disconnectTimeout: DISCONNECT_MS,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // Whether Redis serves is found out by counting with it, which needs no right to run INFO.
  enableReadyCheck: false,
  disableClientInfo: true,
};

/**
 * Connects to `redis[s]://[user][:password]@host[:port][/db]`, or to the cluster of several such addresses with
 * commas between. Comes back at once and goes on trying; what goes wrong is an `error` event. Throws for an address
 * that is none.
 */
export function connectRedis(url: string): Redis | Cluster {
  const addresses = url.split(/,\s*(?=rediss?:\/\/)/);
  const [credentials] = addresses.map(credentialsIn);
  if (addresses.length === 1) {
    return new Redis(url, { ...FAIL_FAST, enableOfflineQueue: false, retryStrategy: reconnectAfter });
  }
  return new Cluster(addresses, {
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: reconnectAfter,
    maxRedirections: 3,
    slotsRefreshTimeout: CONNECT_MS,
    // What the first address says of signing in counts for all servers, those that are not named too.
    redisOptions: { ...FAIL_FAST, ...credentials },
  });
}

function credentialsIn(address: string): RedisOptions {
  try {
    const { protocol, hostname, username, password } = new URL(address);
    if (!/^rediss?:$/.test(protocol) || !hostname) throw new TypeError();
    return {
      ...(username ? { username: decodeURIComponent(username) } : {}),
      ...(password ? { password: decodeURIComponent(password) } : {}),
      ...(protocol === 'rediss:' ? { tls: {} } : {}),
    };
  } catch {
    // The error itself would quote the address, and with it the password.
    throw new Error('The address of Redis is none: redis[s]://[user][:password]@host[:port][/db] is meant');
  }
}
