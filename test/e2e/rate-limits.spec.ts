import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { changesRead } from '../support/changes-read.js';
import { type Answer, type HttpOptions, madeForEach, useService } from '../support/spec.js';
import { holdClock, putClockForward } from '../support/clock.js';
import {
  expectRetryAfter,
  limitHeaders,
  newAddress,
  retryAfterOf,
  statusesOf,
  tally,
} from '../support/rate-limits.js';

const LIMIT = 5;
/** Without a valid token, a minute. */
const ADDRESS_LIMIT = 100;
const HOUR = 3600;
const UNKNOWN_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const UNKNOWN_NOTIFICATION = 'notf01HN2NJ9NMRZBXT1H6FT9N7735';
const ENDPOINTS: [path: string, options: HttpOptions, status: number][] = [
  ['/v2/users', {}, 200],
  [`/v2/users/${UNKNOWN_USER}`, {}, 404],
  ['/v2/users?page_size=0', {}, 400],
  ['/notifications', {}, 200],
  [`/notifications/${UNKNOWN_NOTIFICATION}`, {}, 404],
  [`/notifications/${UNKNOWN_NOTIFICATION}`, { method: 'PATCH', json: { read: true } }, 404],
  ['/webhook_portal', {}, 200],
];

/** Whether the path can still be read by a client over its limit (see limit-gate.spec.ts). */
const isRead = ([path, { method }]: [string, HttpOptions, number]): boolean =>
  path.startsWith('/notifications') && method === undefined;

describe('The limit of bearer endpoints', () => {
  const env = { RATE_LIMIT_PER_HOUR: String(LIMIT), OAUTH_RATE_LIMIT_PER_MINUTE: String(ADDRESS_LIMIT / 10) };
  const service = useService({ env, instances: 2 });
  let admin: string;
  let bearer: string;

  beforeAll(async () => (admin = await service.make.adminToken()));
  const client = madeForEach(() => service.make.client());
  beforeEach(async () => (bearer = await service.make.clientToken(client)));

  const ask = (path = '/v2/users', options: HttpOptions = {}): Promise<Answer> =>
    service.http.send(path, { bearer, ...options });
  const as = (token: string) => (): Promise<Answer> => ask('/v2/users', { bearer: token });
  const exhaust = async (token = bearer): Promise<Answer> => {
    expect(await statusesOf(LIMIT, as(token))).toEqual(Array(LIMIT).fill(200));
    return as(token)();
  };
  const setLimit = async (rate_limit: unknown, of = client): Promise<Answer> => {
    const path = `/admin/clients/${of.id}`;
    const answer = await service.http.send(path, { method: 'PATCH', bearer: admin, json: { rate_limit } });
    // Another instance is notified within 100 ms; here the test waits for it.
    await changesRead(service);
    return answer;
  };
  const userToken = async (user: UserEntity, of = client): Promise<string> =>
    (await service.make.tokens(of, user)).access_token;

  describe('refuses', () => {
    it('the next request with exactly the members of a problem and a notification', async () => {
      const answer = await exhaust();
      expect(answer.status).toBe(429);
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      const { notification, ...problem } = answer.json as { notification: { id: string } };
      expect(problem).toEqual({
        type: `${service.settings.baseUrl}/v2/problems/rate-limit-exceeded/`,
        status: 429,
        title: 'Too many requests',
        detail: expect.stringMatching(/limit of 5 requests per hour .* \d+ (seconds?|minutes?)\.$/),
        instance: `${service.settings.baseUrl}/v2/users/${client.ownerId}`,
      });
      expect(notification).toEqual({
        id: expect.stringMatching(/^notf[0-9A-HJKMNP-TV-Z]{26}$/),
        url: `${service.settings.baseUrl}/notifications/${notification.id}`,
        message_id: expect.stringMatching(/^ERR\d+$/),
        category: 'RETRY',
        event_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        short_text_title: expect.stringMatching(/\S/),
        short_text_body: expect.stringMatching(/\S/),
        detail_page_title: expect.stringMatching(/\S/),
        detail_page_body: expect.stringMatching(/\S/),
        external_link: null,
      });
    });

    it.each(ENDPOINTS.filter((endpoint) => !isRead(endpoint)))('%s %j', async (path, options) => {
      await exhaust();
      const answer = await ask(path, options);
      expect(answer.status).toBe(429);
      expect(limitHeaders(answer)).toEqual([LIMIT, 0]);
      expectRetryAfter(answer, HOUR);
      expect([answer.headers.get('cache-control'), answer.headers.get('service-version')]).toEqual([
        'no-store',
        '2',
      ]);
    });

    it('HEAD requests with the same headers and no body', async () => {
      const get = await exhaust();
      const head = await ask('/v2/users', { method: 'HEAD' });
      expect([head.status, head.text, limitHeaders(head)]).toEqual([429, '', [LIMIT, 0]]);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
      expect(retryAfterOf(head)).toBeLessThanOrEqual(retryAfterOf(get));
    });

    it('before version and body are checked', async () => {
      await exhaust();
      expect((await ask('/v2/users', { headers: { 'service-version': '3' } })).status).toBe(429);
      const json = { read: 'nonsense' };
      expect((await ask(`/notifications/${UNKNOWN_NOTIFICATION}`, { method: 'PATCH', json })).status).toBe(
        429,
      );
    });

    it('for exactly as long as Retry-After says, which other refusals do not change', async () => {
      const release = holdClock();
      try {
        const seconds = retryAfterOf(await exhaust());
        expect(seconds).toBe(HOUR);
        putClockForward(seconds / 2);
        await tally(Array.from({ length: 30 }, as(bearer)));
        const left = retryAfterOf(await ask());
        expect(left).toBe(HOUR / 2);
        putClockForward(left - 1);
        expect((await ask()).status).toBe(429);
        putClockForward(1);
        expect((await ask()).status).toBe(200);
      } finally {
        release();
      }
    });
  });

  describe('is given in the headers', () => {
    it.each(ENDPOINTS)('of %s %j', async (path, options, status) => {
      const answers = [await ask(path, options), await ask(path, options)];
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      expect(answers.map(limitHeaders)).toEqual([
        [LIMIT, LIMIT - 1],
        [LIMIT, LIMIT - 2],
      ]);
      expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual([null, null]);
      // The contract does not promise this header, and with a rolling hour its value could only be wrong.
      expect(answers.map(({ headers }) => headers.get('x-ratelimit-reset'))).toEqual([null, null]);
    });

    it('of HEAD, of an unsupported method, and of a request refused for its version, which counts', async () => {
      const token = await userToken(await service.make.user());
      const version = { 'service-version': '3' };
      const answers = [
        await ask('/v2/users', { bearer: token, method: 'HEAD' }),
        await ask('/webhook_portal', { bearer: token }),
        await ask('/v2/users', { bearer: token, headers: version }),
      ];
      expect(answers.map((answer) => [answer.status, ...limitHeaders(answer)])).toEqual([
        [200, LIMIT, LIMIT - 1],
        [403, LIMIT, LIMIT - 2],
        [400, LIMIT, LIMIT - 3],
      ]);
    });
  });

  describe('counts', () => {
    it('requests separately for each pair of client and user, over all tokens of the pair', async () => {
      const [anna, ben] = [await service.make.user(), await service.make.user()];
      const other = await service.make.client();
      const [first, second] = [await userToken(anna), await userToken(anna)];
      expect((await exhaust(first)).status).toBe(429);
      expect((await as(second)()).status).toBe(429);
      for (const token of [await userToken(ben), await userToken(anna, other), bearer])
        expect(limitHeaders(await as(token)())).toEqual([LIMIT, LIMIT - 1]);
    });

    it('client-credentials requests for the client, separately from the user who owns it', async () => {
      const owner = await service.make.user();
      const owned = await service.make.client({ ownerId: owner.id });
      const [first, second] = [await service.make.clientToken(owned), await service.make.clientToken(owned)];
      expect((await exhaust(first)).status).toBe(429);
      expect((await as(second)()).status).toBe(429);
      expect(limitHeaders(await as(await userToken(owner, owned))())).toEqual([LIMIT, LIMIT - 1]);
    });

    it('no request without a valid token', async () => {
      for (const token of ['garbage', `${bearer.slice(0, -1)}x`, `${client.id}`]) {
        const answer = await as(token)();
        expect([answer.status, ...limitHeaders(answer)]).toEqual([401, null, null]);
      }
      expect((await ask('/v2/users', { bearer: undefined })).status).toBe(401);
      expect((await ask(`/v2/users?access_token=${bearer}`)).status).toBe(400);
      expect(limitHeaders(await ask())).toEqual([LIMIT, LIMIT - 1]);
    });

    it('neither the admin API nor introspection', async () => {
      const operator = await service.make.operatorClient();
      const token = await service.make.clientToken(operator);
      for (let n = 0; n < LIMIT + 3; n++) {
        const answers = [
          await ask('/admin/users', { bearer: token }),
          await service.http.send('/o/introspect/', { form: { token: bearer }, basic: operator }),
          await service.http.send('/o/introspect/', { form: { token: bearer }, bearer: token }),
        ];
        expect(answers.map((answer) => [answer.status, ...limitHeaders(answer)])).toEqual(
          Array(3).fill([200, null, null]),
        );
      }
      expect(limitHeaders(await ask())).toEqual([LIMIT, LIMIT - 1]);
    });
  });

  describe('when set for one client', () => {
    it.each([0, -1, 1.5, 1e12, 1_000_000_001, '100', true, [10], {}])('cannot be %j', async (value) => {
      const answer = await setLimit(value);
      expect([answer.status, Object.keys(answer.json.field_errors)]).toEqual([400, ['rate_limit']]);
      expect(limitHeaders(await ask())).toEqual([LIMIT, LIMIT - 1]);
    });

    it('changes immediately on every instance when lowered, raised after refusals, or removed', async () => {
      const elsewhere = (): Promise<Answer> => service.instances[1]!.http.get('/v2/users', { bearer });
      const both = async () =>
        [await ask(), await elsewhere()].map((answer) => [answer.status, ...limitHeaders(answer)]);
      expect(await both()).toEqual(Array(2).fill([200, 5, 4]));
      await setLimit(1);
      expect(await both()).toEqual(Array(2).fill([429, 1, 0]));
      await setLimit(3);
      expect(await both()).toEqual(Array(2).fill([200, 3, 1]));
      expect(await both()).toEqual(Array(2).fill([200, 3, 0]));
      expect(await both()).toEqual(Array(2).fill([429, 3, 0]));
      await setLimit(1_000_000_000);
      expect(await both()).toEqual(Array(2).fill([200, 1_000_000_000, 999_999_996]));
      await setLimit(null);
      expect(await both()).toEqual(Array(2).fill([200, LIMIT, 0]));
      expect(await both()).toEqual(Array(2).fill([429, LIMIT, 0]));
    });

    it('does not change for other clients', async () => {
      const other = await service.make.client();
      await setLimit(1, other);
      expect((await exhaust()).status).toBe(429);
      expect(limitHeaders(await as(await service.make.clientToken(other))())).toEqual([1, 0]);
    });
  });

  it('of an address, without trusted proxies, ignores a forged X-Forwarded-For or Forwarded header', async () => {
    // What others have sent counts no more.
    putClockForward(60);
    const garbage = (): Promise<Answer> => {
      const address = newAddress();
      const forged = ['x-forwarded-for', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip'];
      const headers = Object.fromEntries(forged.map((name) => [name, address]));
      return ask('/v2/users', { bearer: 'garbage', headers: { ...headers, forwarded: `for=${address}` } });
    };
    expect(await statusesOf(ADDRESS_LIMIT, garbage)).toEqual(Array(ADDRESS_LIMIT).fill(401));
    expect((await garbage()).status).toBe(429);
  });
});
