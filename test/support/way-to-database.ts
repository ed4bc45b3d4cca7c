import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.js';

/** A port that leads to a database while it is open, and where nothing listens while it is closed, as when the database is down. */
export class WayToDatabase {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  private constructor(
    /** The URL of the database by this way. */
    readonly url: string,
    private readonly from: number,
    private readonly to: URL,
  ) {}

  static async closed(databaseUrl: string): Promise<WayToDatabase> {
    const url = new URL(databaseUrl);
    const port = await freePort();
    url.port = String(port);
    return new WayToDatabase(url.href, port, new URL(databaseUrl));
  }

  async open(): Promise<void> {
    const server = createServer((socket) => {
      const onwards = connect(Number(this.to.port), this.to.hostname);
      for (const [each, other] of [
        [socket, onwards],
        [onwards, socket],
      ] as const) {
        this.sockets.add(each);
        each.on('error', () => undefined);
        each.once('close', () => {
          this.sockets.delete(each);
          other.destroy();
        });
      }
      socket.pipe(onwards).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(this.from, '127.0.0.1', resolve));
    this.server = server;
  }

  /** Cuts every connection, and refuses further ones. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
