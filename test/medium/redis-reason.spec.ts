import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { SharedRateLimitStore } from '#access/rate-limits/store/shared-rate-limit-store.js';
import { until } from '../support/until.js';

describe('A Redis that answers only after the start has given it up', () => {
  /** Accepts connections, and says nothing of its own accord. */
  let silent: Server;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    silent = createServer((socket) => {
      socket.on('error', () => undefined);
      sockets.push(socket);
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => silent.close(resolve));
  });

  it('is reported once without a reason, and once more with the reason when that is known', async () => {
    const warnings: string[] = [];
    const logger = { log: () => undefined, warn: (text: string) => void warnings.push(text) };
    const { port } = silent.address() as AddressInfo;
    const store = new SharedRateLimitStore(`redis://:password@127.0.0.1:${port}`, { logger });
    await store.ready();
    expect(warnings).toEqual([expect.stringContaining('Redis is unavailable (the connection ended)')]);
    // The answer to AUTH, and the same to everything after it.
    for (const socket of sockets) socket.write('-WRONGPASS invalid username-password pair\r\n'.repeat(3));
    await until('it says why', () => warnings.length > 1);
    expect(warnings).toEqual([
      expect.anything(),
      expect.stringContaining('Redis is unavailable (WRONGPASS: it rejected the user or password'),
    ]);
    await store.close();
  });
});
