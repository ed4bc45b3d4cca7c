import pgConnectionString from 'pg-connection-string';

/** A server of a DATABASE_URL: a name, an address or the folder of a unix socket. Undefined members are left to the driver. */
export interface DatabaseHost {
  host: string | undefined;
  port: number | undefined;
}

export interface DatabaseUrl {
  /** One or more; of several, the one that accepts writes is used. */
  hosts: DatabaseHost[];
  /** User, password, database, TLS and other parameters of the URL, as options of the driver. */
  config: Record<string, unknown>;
}

const SCHEME = /^postgres(?:ql)?:\/\//;
// The service writes, so a read-only server is of no use.
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];
const OURS = ['host', 'port', 'target_session_attrs'];

/**
 * Parses `postgres://user:password@host:port,host:port/database?…` as libpq does, where the driver supports only one host. Throws
 * an Error that does not quote the URL. Certificates named by the URL are read, which throws file system errors.
 */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  if (!SCHEME.test(text) || /\s|%(?![0-9a-f]{2})|#/i.test(text)) throw new Error('not a PostgreSQL URL');
  const [address, query = ''] = split(text.replace(SCHEME, ''), '?');
  const [authority, database = ''] = split(address, '/');
  const at = authority.lastIndexOf('@');
  const parameters = new URLSearchParams(query);
  if (!SESSION_ATTRIBUTES.includes(parameters.get('target_session_attrs') ?? 'any')) {
    throw new Error('target_session_attrs must be read-write or primary');
  }
  const hosts = readHosts(authority.slice(at + 1), parameters);
  for (const name of OURS) parameters.delete(name);
  decodeURIComponent(`${authority}${database}`);
  // The driver's own parser reads the rest, with a placeholder host.
  const config = pgConnectionString.parse(
    `postgres://${authority.slice(0, at + 1)}host.invalid/${database}?${parameters.toString()}`,
  ) as unknown as Record<string, unknown>;
  delete config.host;
  delete config.port;
  return { hosts, config: pgConnectionString.toClientConfig(config as never) as Record<string, unknown> };
}

function split(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** From the authority, or from the parameters `host` and `port`, which may be lists too. */
function readHosts(address: string, parameters: URLSearchParams): DatabaseHost[] {
  const [named, ports] = ['host', 'port'].map((name) => parameters.get(name)?.split(','));
  const hosts = named
    ? named.map((host) => ({ host, port: undefined }))
    : address.split(',').map((each) => readHost(each));
  if (ports && ports.length !== 1 && ports.length !== hosts.length) throw new Error('one port for each host');
  const all = hosts.map(({ host, port }, n) => {
    const given = ports ? ports[Math.min(n, ports.length - 1)]! : undefined;
    return { host: host === '' ? undefined : host, port: given ? readPort(given) : port };
  });
  if (all.length > 1 && all.some(({ host }) => host === undefined)) throw new Error('a host without a name');
  return all;
}

function readHost(text: string): { host: string; port: number | undefined } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^[\]:,@]*))(?::(\d*))?$/i.exec(text);
  if (!match) throw new Error('not a host');
  const [, v6, name, port] = match;
  return { host: v6 ?? decodeURIComponent(name!), port: port ? readPort(port) : undefined };
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) throw new Error('not a port');
  return port;
}
