import Fastify, { type FastifyInstance } from 'fastify';
import { Agent, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatheredResponses } from '#platform/http/server/gathered-responses.js';
import { addRequestHooks } from '#platform/http/server/request-hooks.js';
import { until } from '../support/until.js';

// More than the buffers of a connection hold.
const LARGE = 'x'.repeat(32 * 1024 * 1024);

describe('A response that was made before the shutdown, and is sent after the port is closed,', () => {
  let fastify: FastifyInstance;
  let agent: Agent;
  let held: Map<string, () => void>;
  beforeEach(async () => {
    held = new Map();
    jest.spyOn(GatheredResponses.prototype, 'hold').mockImplementation((reply, payload, go) => {
      held.set(reply.request.url, () => go(null, payload));
    });
    fastify = Fastify({ return503OnClosing: false, forceCloseConnections: 'idle' });
    addRequestHooks(fastify);
    fastify.get('/', async () => 'hello');
    fastify.get('/large', async () => LARGE);
    await fastify.listen({ host: '127.0.0.1', port: 0 });
    // Neither side ends a connection that could be used again.
    fastify.server.keepAliveTimeout = 0;
    agent = new Agent({ keepAlive: true });
  });
  afterEach(() => {
    agent.destroy();
    jest.restoreAllMocks();
  });

  /** The response, of which nothing is read yet. */
  const ask = (path: string): Promise<IncomingMessage> => {
    const { port } = fastify.server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      get({ agent, port, path, host: '127.0.0.1' }, resolve).on('error', reject);
    });
  };
  const lengthOf = async (response: IncomingMessage): Promise<number> => {
    let length = 0;
    for await (const chunk of response) length += (chunk as Buffer).length;
    return length;
  };

  it('does not hold it up', async () => {
    const answer = ask('/');
    await until('the response is made', () => held.size === 1);
    let isClosed = false;
    const closed = fastify.close().then(() => (isClosed = true));
    await until('the port is closed', () => !fastify.server.listening);
    held.get('/')!();
    expect((await answer).headers.connection).toBe('keep-alive');
    await lengthOf(await answer);
    await until('the shutdown is over', () => isClosed);
    await closed;
  });

  it('does not cut another one, which its client still reads', async () => {
    const answers = [ask('/'), ask('/large')] as const;
    await until('both are made', () => held.size === 2);
    const closed = fastify.close();
    await until('the port is closed', () => !fastify.server.listening);
    held.get('/large')!();
    const large = await answers[1];
    held.get('/')!();
    await lengthOf(await answers[0]);
    expect(await lengthOf(large)).toBe(LARGE.length);
    await closed;
  });
});
