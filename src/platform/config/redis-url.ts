/** Where the shared counters are: a server, the master that sentinels name, or a cluster. */
export type RedisUrl = { tls: boolean; username?: string; password?: string } & (
  | { kind: 'server'; url: string }
  | { kind: 'cluster'; hosts: RedisHost[] }
  | {
      kind: 'sentinel';
      hosts: RedisHost[];
      /** The name of the master in the sentinels' configuration. */
      name: string;
      db: number;
      sentinelUsername?: string;
      sentinelPassword?: string;
    }
);

interface RedisHost {
  host: string;
  port: number;
}

const SEVERAL = /^redis(s?)\+(sentinel|cluster):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?(?:\?([^#]*))?$/;
const LIST = /,\s*(?=rediss?:\/\/)/;
const SENTINEL_PARAMETERS = ['sentinel_username', 'sentinel_password'];

/**
 * Parses a REDIS_URL: `redis://[user][:password]@host[:port][/db]` for one server,
 * `redis+sentinel://…@host:port,host:port/master[/db]` for the master that sentinels name,
 * `redis+cluster://…@host:port,host:port` for a cluster (or plain URLs separated by commas); `rediss` for TLS. Throws an Error
 * that does not quote the URL.
 */
export function parseRedisUrl(text: string): RedisUrl {
  if (/%(?![0-9a-f]{2})/i.test(text)) throw new Error('not percent-encoded');
  const several = SEVERAL.exec(text);
  if (!several) return readPlain(text);
  const [, s, kind, userInfo = '', address, path = '', query = ''] = several;
  const common = {
    tls: s === 's',
    ...credentials(userInfo),
    hosts: address!.split(',').map(readHost(kind!)),
  };
  const parameters = new URLSearchParams(query);
  const known = kind === 'sentinel' ? SENTINEL_PARAMETERS : [];
  if ([...parameters.keys()].some((name) => !known.includes(name))) throw new Error('an unknown parameter');
  if (kind === 'cluster') {
    if (path !== '' && path !== '/' && path !== '/0') throw new Error('a cluster has one database');
    return { kind, ...common };
  }
  const [, name, db] = /^\/([^/]+)(?:\/(\d{1,4}))?$/.exec(path) ?? [];
  if (name === undefined) throw new Error('the master has no name');
  const [sentinelUsername, sentinelPassword] = SENTINEL_PARAMETERS.map(
    (each) => parameters.get(each) ?? undefined,
  );
  return {
    kind: 'sentinel',
    ...common,
    name: decodeURIComponent(name),
    db: Number(db ?? 0),
    ...(sentinelUsername ? { sentinelUsername } : {}),
    ...(sentinelPassword ? { sentinelPassword } : {}),
  };
}

/** One server, or the servers of a cluster: the credentials of the first apply to all. */
function readPlain(text: string): RedisUrl {
  const parts = text.split(LIST);
  const urls = parts.map((part) => {
    if (!/^rediss?:\/\//.test(part) || /\s/.test(part)) throw new Error('not a Redis URL');
    return new URL(part);
  });
  for (const url of urls) {
    if (url.hostname === '') throw new Error('no host');
    // The library would count in database 0 instead.
    if (!/^(?:\/(?:\d{1,4})?)?$/.test(url.pathname)) throw new Error('the database is not a number');
    if (url.protocol !== urls[0]!.protocol) throw new Error('some with TLS and some without');
    if (parts.length > 1 && !/^(?:\/0?)?$/.test(url.pathname)) throw new Error('a cluster has one database');
  }
  const common = urls.map(({ protocol, username, password }) => ({
    tls: protocol === 'rediss:',
    ...credentials(username + (password ? `:${password}` : '')),
  }))[0]!;
  if (parts.length === 1) return { kind: 'server', url: text, ...common };
  const hosts = urls.map(({ host }) => readHost('cluster')(host));
  return { kind: 'cluster', hosts, ...common };
}

function credentials(userInfo: string): { username?: string; password?: string } {
  const at = userInfo.indexOf(':');
  const [username, password] = at < 0 ? [userInfo, ''] : [userInfo.slice(0, at), userInfo.slice(at + 1)];
  return {
    ...(username ? { username: decodeURIComponent(username) } : {}),
    ...(password ? { password: decodeURIComponent(password) } : {}),
  };
}

const readHost =
  (kind: string) =>
  (text: string): RedisHost => {
    const match = /^(?:\[([0-9a-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(text);
    if (!match) throw new Error('not a host');
    const port = Number(match[3] ?? (kind === 'sentinel' ? 26_379 : 6379));
    if (port < 1 || port > 65_535) throw new Error('not a port');
    return { host: (match[1] ?? match[2])!, port };
  };
