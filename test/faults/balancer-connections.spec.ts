import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { freePort } from '../support/free-port.js';
import { Haproxy, lackingHaproxy } from '../support/haproxy.js';
import { describeUnless } from '../support/left-out.js';
import { until } from '../support/until.js';

/** As `deploy/haproxy.cfg` says. */
const PER_ADDRESS = 500;

describeUnless(lackingHaproxy, 'The shipped load balancer', () => {
  let instance: Server;
  let balancer: Haproxy | undefined;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    instance = createServer((_request, response) => void response.end('served'));
    await new Promise<void>((resolve) => instance.listen(0, '127.0.0.1', resolve));
    const { port } = instance.address() as AddressInfo;
    balancer = await Haproxy.start(await freePort(), [port, port], { isPatient: true });
    const { url } = balancer;
    await until('it serves', () =>
      fetch(url).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await balancer?.stop();
    instance.closeAllConnections();
    instance.close();
  });

  /** Asks on a new connection, which stays open; the first line that arrives, or that it was closed. */
  const ask = (localAddress: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ port: Number(new URL(balancer!.url).port), host: '127.0.0.1', localAddress });
      sockets.push(socket);
      socket.once('data', (chunk: Buffer) => resolve(chunk.toString().split('\r\n')[0]!));
      socket.once('close', () => resolve('closed'));
      socket.on('error', () => resolve('closed'));
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    });

  it('gives one address 500 connections, and serves the others', async () => {
    for (let n = 0; n < PER_ADDRESS; n++) expect(await ask('127.0.0.2')).toBe('HTTP/1.1 200 OK');
    expect(await ask('127.0.0.2')).toBe('closed');
    expect(await ask('127.0.0.3')).toBe('HTTP/1.1 200 OK');
    sockets[0]!.destroy();
    await until('its place is free', async () => (await ask('127.0.0.2')) === 'HTTP/1.1 200 OK');
  });
});
