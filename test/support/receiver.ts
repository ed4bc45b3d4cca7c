import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer as createSecureHttp2Server, createServer as createHttp2Server } from 'node:http2';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { generate } from 'selfsigned';
import { LOOPBACK, LOOPBACK_ADDRESS } from './foreign-conditions.js';
import { freePort } from './free-port.js';

/** A request as the receiver saw it. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** A partner's server on a loopback port; it counts its connections. */
export class Receiver {
  readonly requests: ReceivedRequest[] = [];
  readonly sockets = new Set<Socket>();
  connections = 0;

  private constructor(private readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    });
  }

  /** Speaks HTTP, or HTTPS if a certificate is given. */
  static start(answer?: Answer, tls?: ServerOptions): Promise<Receiver> {
    return Receiver.of(answer, tls).listen();
  }

  /** The same for the tests of a file; usable from `beforeAll` on. */
  static setUp(answer?: Answer): Receiver {
    const receiver = Receiver.of(answer);
    beforeAll(() => receiver.listen());
    afterAll(() => receiver.stop());
    return receiver;
  }

  private static of(answer: Answer = (response) => void response.end('ok'), tls?: ServerOptions): Receiver {
    const requests: ReceivedRequest[] = [];
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const received = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
        requests.push(received);
        answer(response, received);
      });
    };
    const server = tls ? createHttpsServer(tls, onRequest) : createHttpServer(onRequest);
    server.keepAliveTimeout = 60_000;
    const receiver = new Receiver(server);
    return Object.assign(receiver, { requests });
  }

  /** Speaks only HTTP/2: its TLS offers nothing else (ALPN), and without TLS it begins with its frames. */
  static startHttp2Only(tls?: SecureContextOptions): Promise<Receiver> {
    const server = tls ? createSecureHttp2Server(tls) : createHttp2Server();
    server.on('sessionError', () => undefined);
    return new Receiver(server).listen();
  }

  /** Sends whatever the function writes, once bytes of a request have arrived. */
  static startRaw(answer: (socket: Socket, times: number, bytes: Buffer) => void): Promise<Receiver> {
    let times = 0;
    const server = createTcpServer((socket) => {
      socket.on('data', (bytes: Buffer) => answer(socket, ++times, bytes));
    });
    return new Receiver(server).listen();
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path = '/hook', host: string = LOOPBACK, scheme = 'http'): string {
    return `${scheme}://${host}:${this.port}${path}`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async listen(): Promise<this> {
    // Not a port that an earlier receiver had lately: deliveries to that one may still be tried again.
    const port = await freePort();
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject).listen(port, LOOPBACK_ADDRESS, resolve);
    });
    return this;
  }
}

const DAY_MS = 86_400_000;

/** A key and a certificate for one name; self-signed if no authority is given. */
export async function certificateFor(
  name: string,
  { ca, expired = false }: { ca?: { key: string; cert: string }; expired?: boolean } = {},
): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 2 * DAY_MS),
    notAfterDate: new Date(Date.now() + (expired ? -DAY_MS : DAY_MS)),
    ...(ca ? { ca } : {}),
  });
  return { key: made.private, cert: made.cert };
}

/** A certificate authority for tests. */
export async function certificateAuthority(): Promise<{ key: string; cert: string }> {
  const made = await generate([{ name: 'commonName', value: 'Test authority' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { key: made.private, cert: made.cert };
}
