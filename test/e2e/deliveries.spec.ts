import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { HeldTimers } from '../support/held-timers.js';
import { freePort, madeOnce, unexpectedErrors, useService } from '../support/spec.js';
import { Receiver, type ReceivedRequest } from '../support/receiver.js';
import { TYPE, WEBHOOK_ENV, Webhooks, type DeliveryRow, type TestEndpoint } from '../support/webhooks.js';

interface AttemptView {
  number: number;
  status: number | null;
  failure: string | null;
  detail: string | null;
  response_start: string | null;
}

describe('A delivery', () => {
  const service = useService({ env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '1000,2000,4000' } });

  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => webhooks.consentedUser(client));
  afterEach(async () => {
    await service.database.query('UPDATE webhook_endpoints SET deleted_at = now() WHERE deleted_at IS NULL');
    expect(unexpectedErrors(service)).toEqual([]);
  });

  const attemptsOf = async ({ id }: { id: string }): Promise<AttemptView[]> => {
    const answer = await service.http.get(`/admin/deliveries/${id}`, { bearer: webhooks.bearer });
    expect(answer.status).toBe(200);
    return (answer.json as { attempts: AttemptView[] }).attempts;
  };
  /** Publishes an event to the endpoint and waits until its first attempt has ended. */
  const attemptOnce = async () =>
    webhooks.attempted((await webhooks.publishOne(user.id, { data: { kwh: 11.4 } })).id);
  /** Verifies the signature with an independent implementation. */
  const verify = (secret: string, { body, headers }: ReceivedRequest) =>
    new Webhook(secret).verify(body, headers as Record<string, string>);
  const expectWait = ({ wait, state }: DeliveryRow, seconds: number) => {
    expect(state).toBe('pending');
    expect(wait).toBeGreaterThan(seconds * 0.9 - 15);
    expect(wait).toBeLessThanOrEqual(seconds * 1.1);
  };

  it('fails with any answer other than 2xx: it is retried, and the attempt records the answer', async () => {
    const endpoint = await webhooks.endpoint(client);
    const statuses = [300, 301, 302, 304, 307, 400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504, 599];
    for (const status of statuses) {
      webhooks.answer(endpoint.path, (response) => {
        response.writeHead(status, { location: webhooks.receiver.url('/elsewhere') }).end(`said ${status}`);
      });
      const delivery = await attemptOnce();
      expectWait(delivery, 1000);
      expect(delivery).toMatchObject({ attempts: 1, retries: 1 });
      const said = status === 304 ? '' : `said ${status}`;
      expect(await attemptsOf(delivery)).toMatchObject([
        { number: 1, status, failure: null, detail: null, response_start: said },
      ]);
    }
    // Redirects are not followed.
    expect(webhooks.receiver.requests.filter(({ url }) => url === '/elsewhere')).toEqual([]);
  });

  it('fails without an answer: it is retried, and the attempt records the reason', async () => {
    const endpoint = await webhooks.endpoint(client);
    webhooks.answer(endpoint.path, (response) => void response.socket!.destroy());
    const hungUp = await attemptOnce();
    expectWait(hungUp, 1000);
    expect(await attemptsOf(hungUp)).toMatchObject([{ status: null, failure: 'connection' }]);
    const nobody = `http://127.0.0.1:${await freePort()}/hook`;
    await service.database.query('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [
      endpoint.id,
      nobody,
    ]);
    const refused = await attemptOnce();
    expectWait(refused, 1000);
    expect(await attemptsOf(refused)).toMatchObject([
      { status: null, failure: 'connection', detail: 'The connection was refused.', response_start: null },
    ]);
  });

  it('fails at a receiver that only speaks HTTP/2, and the attempt says so', async () => {
    const endpoint = await webhooks.endpoint(client);
    const receiver = await Receiver.startHttp2Only();
    try {
      await service.database.query('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [
        endpoint.id,
        receiver.url(),
      ]);
      expect(await attemptsOf(await attemptOnce())).toMatchObject([
        {
          status: null,
          failure: 'http',
          detail: 'The server does not accept HTTP/1.1, and seems to accept HTTP/2 only.',
        },
      ]);
    } finally {
      await receiver.stop();
    }
  });

  it('fails if the answer takes longer than 15 s', async () => {
    // The rest of the 15 s, after the request has been sent.
    const limit = HeldTimers.hold(1_001, 15_000, 'guarded-http-client');
    try {
      const endpoint = await webhooks.endpoint(client, { reply: () => undefined });
      const delivery = await webhooks.publishOne(user.id);
      await webhooks.receives(endpoint);
      // Other services of this process may wait for answers, too.
      expect(limit.count).toBeGreaterThan(0);
      expect((await webhooks.delivery(delivery.id)).attempts).toBe(0);
      limit.letPass();
      const row = await webhooks.attempted(delivery.id);
      expectWait(row, 1000);
      expect(await attemptsOf(row)).toMatchObject([{ status: null, failure: 'timeout' }]);
    } finally {
      limit.release();
    }
  });

  it('succeeds with any 2xx', async () => {
    const endpoint = await webhooks.endpoint(client);
    for (const status of [200, 201, 202, 204, 206, 299]) {
      webhooks.answer(endpoint.path, status);
      expect(await attemptOnce()).toMatchObject({ state: 'delivered', attempts: 1, wait: null });
    }
  });

  it('succeeds at a receiver that sends interim responses first', async () => {
    const endpoint = await webhooks.endpoint(client);
    webhooks.answer(endpoint.path, (response) => {
      response.writeContinue();
      response.writeProcessing();
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.end('done');
    });
    const delivery = await attemptOnce();
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 1 });
    expect(await attemptsOf(delivery)).toMatchObject([{ status: 200, response_start: 'done' }]);
  });

  it('records why a body that is encoded is not there', async () => {
    const endpoint = await webhooks.endpoint(client);
    webhooks.answer(endpoint.path, (response) => {
      response.writeHead(500, { 'content-encoding': 'gzip' }).end(gzipSync('broken'));
    });
    expect(await attemptsOf(await attemptOnce())).toMatchObject([
      {
        status: 500,
        failure: null,
        detail:
          'The body of the response is encoded (gzip), which deliveries do not ask for. It is not shown.',
        response_start: '',
      },
    ]);
  });

  it('is a POST of the event as JSON, signed according to Standard Webhooks', async () => {
    const endpoint = await webhooks.endpoint(client);
    const before = Math.floor(Date.now() / 1000);
    const delivery = await attemptOnce();
    const after = Date.now() / 1000;
    const [request] = webhooks.received(endpoint);
    expect(request!.method).toBe('POST');
    expect(request!.headers).toEqual({
      host: new URL(endpoint.url).host,
      connection: expect.any(String),
      'content-length': String(Buffer.byteLength(request!.body)),
      'content-type': 'application/json',
      'user-agent': 'Charging-Data-Service-Webhooks/1.0',
      'webhook-id': delivery.id,
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      'webhook-event-version': '1',
      'webhook-event-type': TYPE,
    });
    const sentAt = Number(request!.headers['webhook-timestamp']);
    expect([before <= sentAt, sentAt <= after]).toEqual([true, true]);
    const { event_id } = await webhooks.delivery(request!.headers['webhook-id'] as string);
    expect(verify(endpoint.secret, request!)).toEqual({
      id: event_id,
      type: TYPE,
      timestamp: '2026-01-01T00:00:00Z',
      user_id: user.id,
      data: { kwh: 11.4 },
    });
    const other = await webhooks.endpoint(await service.make.client());
    expect(() => verify(other.secret, request!)).toThrow('No matching signature');
    expect(() => verify(endpoint.secret, { ...request!, body: `${request!.body} ` })).toThrow('No matching');
  });

  it('follows the schedule with jitter, under one id and with a timestamp for each attempt, and fails when the schedule ends', async () => {
    const endpoint = await webhooks.endpoint(client, { reply: 500 });
    let row = await attemptOnce();
    for (const [n, seconds] of [1000, 2000, 4000].entries()) {
      expectWait(row, seconds);
      expect(row).toMatchObject({ attempts: n + 1, retries: n + 1 });
      await webhooks.makeDue(row.id);
      row = await webhooks.attempted(row.id, n + 2);
    }
    expect(row).toMatchObject({ state: 'failed', attempts: 4, wait: null, cancel_reason: null });
    const requests = webhooks.received(endpoint);
    expect(requests.map(({ headers }) => headers['webhook-id'])).toEqual([row.id, row.id, row.id, row.id]);
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
    for (const request of requests) verify(endpoint.secret, request);
    const attempts = await service.database.query<{ attempted_at: Date; signature: string }>(
      'SELECT attempted_at, signature FROM delivery_attempts WHERE delivery_id = $1 ORDER BY number',
      [row.id],
    );
    for (const [n, { attempted_at, signature }] of attempts.entries()) {
      const { headers } = requests[n]!;
      expect(headers['webhook-timestamp']).toBe(String(Math.floor(attempted_at.getTime() / 1000)));
      expect(headers['webhook-signature']).toBe(signature);
    }
    const waits = await Promise.all(
      Array.from({ length: 8 }, async () => Math.round((await attemptOnce()).wait!)),
    );
    expect(new Set(waits).size).toBeGreaterThan(3);
  });

  it('can succeed at a later attempt', async () => {
    const endpoint = await webhooks.endpoint(client, {
      reply: (response, _request, time) => void response.writeHead(time < 3 ? 503 : 204).end(),
    });
    let row = await attemptOnce();
    for (const attempts of [2, 3]) {
      await webhooks.makeDue(row.id);
      row = await webhooks.attempted(row.id, attempts);
    }
    expect(row).toMatchObject({ state: 'delivered', attempts: 3 });
    expect(webhooks.received(endpoint)).toHaveLength(3);
    expect((await attemptsOf(row)).map(({ number, status }) => [number, status])).toEqual([
      [1, 503],
      [2, 503],
      [3, 204],
    ]);
  });

  // test/unit/webhook-response-parts.spec.ts has every value, and test/unit/retry-schedule.spec.ts the wait that follows.
  it('waits as long as Retry-After says (seconds or a date, up to 24 hours), but never less than the schedule', async () => {
    const endpoint = await webhooks.endpoint(client);
    const IN_AN_HOUR = 'a date in an hour';
    const rows: [status: number, retryAfter: string, from: number, to: number][] = [
      [429, '7200', 7190, 7200],
      [503, IN_AN_HOUR, 3580, 3601],
      [302, '7200', 7190, 7200],
      [429, '10', 885, 1100],
      [503, 'Fri, 31 Dec 2100 23:59:59 GMT', 86_390, 86_400],
      [429, 'soon', 885, 1100],
    ];
    for (const [status, retryAfter, from, to] of rows) {
      webhooks.answer(endpoint.path, (response) => {
        const date = new Date(Date.now() + 3_600_000).toUTCString();
        response.writeHead(status, { 'retry-after': retryAfter === IN_AN_HOUR ? date : retryAfter }).end();
      });
      const { wait } = await attemptOnce();
      expect([retryAfter, wait! >= from && wait! <= to ? 'within' : wait]).toEqual([retryAfter, 'within']);
    }
  });

  // test/unit/webhook-response-parts.spec.ts has what is text, and test/medium/webhook-client-failures.spec.ts what is read.
  it('records any answer of the receiver as storable text of at most 16 kB', async () => {
    const endpoint = await webhooks.endpoint(client);
    const answers: [status: number, sent: string | Buffer, kept: string][] = [
      [200, '', ''],
      [500, 'a\0b', 'a\ufffdb'],
      [200, `${'x'.repeat(16_383)}é${'x'.repeat(200_000)}`, 'x'.repeat(16_383)],
      [500, Buffer.alloc(20_000), '\ufffd'.repeat(16_384)],
    ];
    for (const [status, sent, kept] of answers) {
      webhooks.answer(endpoint.path, (response) => void response.writeHead(status).end(sent));
      const row = await attemptOnce();
      expect(row.state).toBe(status === 200 ? 'delivered' : 'pending');
      expect((await attemptsOf(row))[0]!.response_start).toBe(kept);
    }
  });

  describe('during a rotation of the signing secret', () => {
    const rotate = ({ id }: TestEndpoint) =>
      service.app.get(EndpointsService).rotateSecret(id, client.id, SERVICE_ACTOR);
    const lastRequest = async (endpoint: TestEndpoint): Promise<ReceivedRequest> => {
      await attemptOnce();
      return webhooks.received(endpoint).at(-1)!;
    };
    const signatureCount = ({ headers }: ReceivedRequest) =>
      (headers['webhook-signature'] as string).split(' ').length;

    it('has a signature for each live secret, the newest first', async () => {
      const endpoint = await webhooks.endpoint(client);
      const inADay = () => Date.now() + 86_400_000;
      const least = inADay();
      const { secret, previousSecretExpiresAt } = await rotate(endpoint);
      expect(previousSecretExpiresAt.getTime()).toBeGreaterThanOrEqual(least);
      expect(previousSecretExpiresAt.getTime()).toBeLessThanOrEqual(inADay());
      const request = await lastRequest(endpoint);
      expect(signatureCount(request)).toBe(2);
      verify(secret, request);
      verify(endpoint.secret, request);
      const [first] = (request.headers['webhook-signature'] as string).split(' ');
      verify(secret, { ...request, headers: { ...request.headers, 'webhook-signature': first } });
      // After another rotation the first secret is no longer live.
      const third = await rotate(endpoint);
      const next = await lastRequest(endpoint);
      expect(signatureCount(next)).toBe(2);
      verify(third.secret, next);
      verify(secret, next);
      expect(() => verify(endpoint.secret, next)).toThrow('No matching signature');
    });

    it('has only one signature after 24 hours', async () => {
      const endpoint = await webhooks.endpoint(client);
      const { secret } = await rotate(endpoint);
      await service.database.query(
        'UPDATE webhook_endpoints SET previous_secret_expires_at = now() WHERE id = $1',
        [endpoint.id],
      );
      const request = await lastRequest(endpoint);
      expect(signatureCount(request)).toBe(1);
      verify(secret, request);
      expect(() => verify(endpoint.secret, request)).toThrow('No matching signature');
    });
  });
});
