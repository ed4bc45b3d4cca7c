import pg from 'pg';
import { parseDatabaseUrl } from '#platform/config/database-url.js';
import { closeAtOnce } from './connection-socket.js';
import { Primary } from './primary.js';
import { pinSession, type Session } from './session.js';

/**
 * The driver options for a DATABASE_URL; of several hosts, it connects to the one that accepts writes. Used by the pool and by
 * single connections, so that all interpret the URL alike, and have the settings that the code relies on besides their own.
 */
export function connectionOptions(
  url: string,
  session: Session = {},
): pg.ClientConfig & { Client: typeof pg.Client } {
  const { hosts, config } = parseDatabaseUrl(url);
  if (hosts.length === 1) return { ...config, ...hosts[0], Client: clientOf(session) };
  return { ...config, Client: clientOf(session, new Primary(hosts, config)) };
}

/** A connection outside of the pool, not connected yet. */
export function newConnection(url: string, options: pg.ClientConfig, session?: Session): pg.Client {
  const { Client, ...config } = connectionOptions(url, session);
  return new Client({ ...config, ...options });
}

/** The driver's client, which finds the primary when it connects, and is connected once it has its settings. */
function clientOf(session: Session, primary?: Primary): typeof pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | void {
      const connected = this.establish();
      if (!callback) return connected;
      // Like the driver's own: called without arguments on success.
      connected.then(() => callback(undefined as never), callback);
    }

    private async establish(): Promise<pg.Client> {
      // A failure between two statements is reported by the next one; an error event without a listener would end the process.
      this.on('error', () => undefined);
      const forget = primary ? await this.aimAt(primary) : undefined;
      try {
        await super.connect();
        await primary?.check(this);
        await pinSession(this, session);
        return this;
      } catch (error) {
        forget?.();
        closeAtOnce(this);
        throw error;
      }
    }

    private async aimAt(primary: Primary): Promise<() => void> {
      const target = await primary.find();
      const forget = () => primary.forget(target);
      // Also on an unexpected end of the connection: after a failover, the others find the new primary.
      this.once('error', forget);
      Object.assign(this, { host: target.host, port: target.port ?? this.port });
      return forget;
    }
  };
}
