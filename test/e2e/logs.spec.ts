import { Logger } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import { keepLogScope } from '#platform/telemetry/log-scope.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { DeliveryAttemptService } from '#events/webhooks/deliveries/delivery-attempt.service.js';
import { DeliveryQueueRepository } from '#events/webhooks/deliveries/delivery-queue.repository.js';
import { madeOnce, until, useService, WEBHOOK_ENV, Webhooks } from '../support/spec.js';

type Line = Record<string, unknown>;

// As on Node 24, or wherever requests are traced.
keepLogScope();

describe('The log', () => {
  const service = useService({ env: WEBHOOK_ENV });
  afterEach(() => jest.restoreAllMocks());

  const lines = (): Line[] => service.log.map((line) => JSON.parse(line) as Line);
  const linesSaying = (text: string) => lines().filter(({ msg }) => String(msg).includes(text));
  const logger = new Logger('SomeService');
  const hooks = madeOnce(() => Webhooks.start(service));
  /** An endpoint, and a user whose events it gets. */
  const subscribed = async () => {
    const client = await service.make.client();
    return { endpoint: await hooks.endpoint(client), user: await hooks.consentedUser(client) };
  };

  it('has one JSON line for each request, with the route pattern and without the query string', async () => {
    const id = 'a-request-of-the-caller';
    await service.http.get('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735?access_token=x&page_size=2', {
      headers: { 'x-request-id': id, cookie: 'a=b', 'user-agent': 'someone' },
    });
    const [line, ...more] = lines().filter(({ request_id }) => request_id === id);
    expect(more).toEqual([]);
    expect(line).toEqual({
      level: 'info',
      msg: 'request',
      request_id: id,
      method: 'GET',
      route: '/v2/users/:id',
      status: 401,
      address: '127.0.0.1',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      milliseconds: expect.any(Number) as number,
    });
  });

  it('has the request’s id in lines that services write for it, and never another request’s id', async () => {
    const client = await service.make.client();
    const tokens = service.app.get(AccessTokensService);
    const issue = tokens.issueForClient.bind(tokens);
    jest.spyOn(tokens, 'issueForClient').mockImplementation(async (...args) => {
      logger.log(`before for ${args[1].join()}`);
      const issued = await issue(...args);
      await pause(Math.random() * 20);
      logger.warn('after the database and a pause');
      return issued;
    });
    const ids = Array.from({ length: 20 }, (_, n) => `request-${n}`);
    await Promise.all(
      ids.map((id) =>
        service.http.send('/o/token', {
          form: { grant_type: 'client_credentials' },
          basic: { id: client.id, secret: client.secret },
          headers: { 'x-request-id': id },
        }),
      ),
    );
    for (const text of ['before for', 'after the database']) {
      const written = linesSaying(text);
      expect(written.map(({ request_id }) => String(request_id)).sort()).toEqual([...ids].sort());
      expect(written[0]!.context).toBe('SomeService');
    }
  });

  it('has the request’s id with an unexpected error', async () => {
    jest.spyOn(service.app.get(AccessTokensService), 'find').mockRejectedValue(new Error('out of order'));
    const headers = { 'x-request-id': 'a-request-that-fails' };
    expect((await service.http.get('/v2/users', { bearer: 'x', headers })).status).toBe(500);
    const [line] = linesSaying('unexpected error');
    expect(line).toMatchObject({ level: 'error', request_id: headers['x-request-id'] });
    expect(line!.err).toMatchObject({ type: 'Error', message: 'out of order' });
  });

  it('has the delivery’s id with a failed delivery, and no request id', async () => {
    const { user } = await subscribed();
    jest.spyOn(service.app.get(DeliveryAttemptService), 'make').mockRejectedValue(new Error('no luck'));
    const { id } = await hooks.publishOne(user.id);
    await until('the delivery failed unexpectedly', () => linesSaying('failed unexpectedly').length > 0);
    const [line] = linesSaying('failed unexpectedly');
    expect(line).toMatchObject({ level: 'error', delivery_id: id, context: 'DeliveryWorker' });
    expect(line).not.toHaveProperty('request_id');
  });

  it('has a line for a permanently failed delivery and one for a disabled endpoint, without their contents', async () => {
    const { user, endpoint } = await subscribed();
    const endpointId = endpoint.id;
    hooks.answer(endpoint.path, (response) => void response.writeHead(410).end('a secret answer'));
    const { id } = await hooks.publishOne(user.id);
    await until('the endpoint is disabled', () => linesSaying('was disabled').length > 0);
    await until('the delivery failed', () => linesSaying('failed permanently').length > 0);
    const [disabled, failed] = [linesSaying('was disabled'), linesSaying('failed permanently')];
    expect(disabled).toMatchObject([
      { level: 'warn', msg: `Webhook endpoint ${endpointId} was disabled: it responded with “410 Gone”` },
    ]);
    expect(failed).toMatchObject([
      {
        level: 'warn',
        delivery_id: id,
        msg: `Delivery ${id} to ${endpointId} failed permanently: status 410`,
      },
    ]);
    expect(JSON.stringify([disabled, failed])).not.toMatch(/secret answer|http:/);
  });

  it('has no request id in lines about shared work that a request merely started', async () => {
    const { user } = await subscribed();
    jest.spyOn(service.app.get(DeliveryQueueRepository), 'claim').mockRejectedValue(new Error('not now'));
    await hooks.publish(user.id);
    await until('nothing could be claimed', () => linesSaying('could not be claimed').length > 0);
    for (const line of linesSaying('could not be claimed')) expect(line).not.toHaveProperty('request_id');
  });
});
