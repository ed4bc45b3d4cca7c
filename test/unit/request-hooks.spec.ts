import Fastify from 'fastify';
import { Agent, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatheredResponses } from '../../src/http/server/gathered-responses.js';
import { addRequestHooks } from '../../src/http/server/request-hooks.js';
import { until } from '../support/until.js';

it('a response that was made before the shutdown, and is sent after the port is closed, does not hold it up', async () => {
  const held: (() => void)[] = [];
  jest.spyOn(GatheredResponses.prototype, 'hold').mockImplementation((_reply, payload, go) => {
    held.push(() => go(null, payload));
  });
  const fastify = Fastify({ return503OnClosing: false, forceCloseConnections: 'idle' });
  addRequestHooks(fastify);
  fastify.get('/', async () => 'hello');
  await fastify.listen({ host: '127.0.0.1', port: 0 });
  // Neither side ends a connection that could be used again.
  fastify.server.keepAliveTimeout = 0;
  const agent = new Agent({ keepAlive: true });
  const { port } = fastify.server.address() as AddressInfo;
  const answered = new Promise<string | undefined>((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1' }, (response) => {
      response.resume().on('end', () => resolve(response.headers.connection));
    }).on('error', reject);
  });
  await until('the response is made', () => held.length === 1);
  let isClosed = false;
  const closed = fastify.close().then(() => (isClosed = true));
  await until('the port is closed', () => !fastify.server.listening);
  held[0]!();
  expect(await answered).toBe('keep-alive');
  await until('the shutdown is over', () => isClosed).finally(() => agent.destroy());
  await closed;
  jest.restoreAllMocks();
});
