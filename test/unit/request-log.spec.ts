import Fastify, { type FastifyInstance } from 'fastify';
import type { ActivityService } from '#records/activity/activity.service.js';
import type { NewClientRequest } from '#events/partners/request-log/client-request.entity.js';
import type { ClientRequestsRepository } from '#events/partners/request-log/client-requests.repository.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';

type Count = Parameters<ActivityService['countMany']>;

describe('Requests of more than 500 clients between two writes', () => {
  let fastify: FastifyInstance;
  let log: RequestLogService;
  let counts: Count[];
  let logged: NewClientRequest[];

  beforeEach(async () => {
    [counts, logged] = [[], []];
    fastify = Fastify();
    fastify.decorateRequest('refusedClientId', undefined);
    fastify.addHook('onRequest', (request, _reply, done) => {
      request.refusedClientId = request.headers['x-client'] as string | undefined;
      done();
    });
    fastify.get('/v2/users', () => 'users');
    fastify.get('/o/token', () => 'token');
    const repository = {
      insert: (requests: NewClientRequest[]) => Promise.resolve(void logged.push(...requests)),
      trim: () => Promise.resolve(),
    } as unknown as ClientRequestsRepository;
    const activity = {
      countMany: (...count: Count) => void counts.push(count),
    } as unknown as ActivityService;
    const server = { httpAdapter: { getInstance: () => fastify } } as never;
    log = new RequestLogService(repository, activity, server);
    log.onModuleInit();
    await fastify.ready();
  });

  const request = (client: string, url = '/v2/users') =>
    fastify.inject({ url, headers: { 'x-client': client } });
  const countsOf = (client: string) => {
    const sums: Record<string, number> = {};
    for (const [{ kind, detail, clientId }, count] of counts) {
      if (clientId === client && count > 0)
        sums[`${kind} ${detail}`] = (sums[`${kind} ${detail}`] ?? 0) + count;
    }
    return sums;
  };

  it('are all counted; those of the first 500 are logged', async () => {
    for (let n = 1; n <= 502; n++) await request(`clnt${n}`);
    for (const client of ['clnt1', 'clnt502']) {
      await request(client);
      await request(client, '/o/token');
    }
    await log.flush();
    for (const client of ['clnt1', 'clnt502'])
      expect(countsOf(client)).toEqual({ 'request api': 2, 'request oauth': 1 });
    for (const client of ['clnt500', 'clnt501']) expect(countsOf(client)).toEqual({ 'request api': 1 });
    expect(new Set(logged.map(({ clientId }) => clientId)).size).toBe(500);
    expect(logged.filter(({ clientId }) => clientId === 'clnt1')).toHaveLength(3);
    await request('clnt502');
    await log.flush();
    expect(countsOf('clnt502')).toEqual({ 'request api': 3, 'request oauth': 1 });
    expect(logged.at(-1)).toMatchObject({ clientId: 'clnt502', route: '/v2/users', status: 200 });
  });
});
