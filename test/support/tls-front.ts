import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificateFor, newAuthority } from './certificates.js';

/** Speaks TLS in front of a service, for programs that insist on it. */
export class TlsFront {
  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** The certificate of the authority that its own is from. */
    readonly authority: string,
  ) {}

  static async start(target: string): Promise<TlsFront> {
    const authority = await newAuthority('Tests');
    const { private: key, cert } = await certificateFor('127.0.0.1', authority);
    const server = createServer({ key, cert }, (request, response) => {
      const { method, headers } = request;
      const passedOn = httpRequest(new URL(request.url!, target), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      passedOn.on('error', () => response.destroy());
      request.pipe(passedOn);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new TlsFront(server, `https://127.0.0.1:${port}`, authority.cert);
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
