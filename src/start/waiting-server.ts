import { createServer, type Server } from 'node:http';
import type { Settings } from '#platform/config/settings.js';
import { BARE_HEADERS } from '#platform/http/problems/client-error.js';
import { serviceUnavailable } from '#platform/http/problems/problem.js';
import { renderProblem } from '#platform/http/problems/render-problem.js';
import { newUlid } from '#platform/secrets/ids.js';

const RETRY_AFTER_SECONDS = '2';

/** Listens on the port until the service can: reports that the process is alive but not ready, and nothing else. */
export class WaitingServer {
  private constructor(private readonly server: Server) {}

  /** Rejects if the port is not available. */
  static async open({ port, host, baseUrl }: Settings): Promise<WaitingServer> {
    const starting = renderProblem(
      serviceUnavailable('The service is starting. Please try again shortly.'),
      baseUrl,
    );
    const server = createServer((request, response) => {
      const isLive = request.url?.split('?', 1)[0] === '/health/live';
      response
        .writeHead(isLive ? 200 : 503, {
          ...BARE_HEADERS,
          ...(isLive
            ? { 'content-type': 'application/json; charset=utf-8' }
            : { ...starting.headers, 'retry-after': RETRY_AFTER_SECONDS }),
          'x-request-id': newUlid(),
          connection: 'close',
        })
        .end(isLive ? '{"status":"ok"}' : starting.body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    return new WaitingServer(server);
  }

  /** Releases the port. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}
