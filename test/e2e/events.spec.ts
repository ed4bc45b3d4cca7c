import { type HttpOptions, madeOnce, membersIn, useSharedService } from '../support/spec.js';
import { rowCounts, unexpectedErrors } from '../support/refusals.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const UNKNOWN_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const TIME = '2026-01-01T00:00:00Z';
const LIMIT = 65_536;

/** Each member with values that are not allowed for it. */
const BAD: [member: string, values: unknown[]][] = [
  [
    'type',
    [
      undefined,
      null,
      '',
      1,
      ['vehicle.created'],
      {},
      'vehicle',
      'Vehicle.created',
      'vehicle.created ',
      'constructor',
      '__proto__',
      '*',
      'x'.repeat(65),
      "' OR 1=1 --",
      // Only the service itself sends these.
      'webhook.test',
      'user.consent_granted',
      'user.consent_revoked',
    ],
  ],
  [
    'user_id',
    [undefined, null, '', 1, 'user1', UNKNOWN_USER, 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', { id: UNKNOWN_USER }],
  ],
  [
    'timestamp',
    [
      undefined,
      null,
      '',
      'now',
      1769846400,
      '2026-01-31',
      '2026-01-31T08:00Z',
      '2026-01-31T08:00:00',
      '2026-02-30T08:00:00Z',
      '31.01.2026',
      '2026-01-31T25:00:00Z',
      '2026-01-31T08:00:00Z\n',
      [TIME],
      '+012026-01-31T08:00:00Z',
    ],
  ],
  ['data', [undefined, null, 'text', 1, true, [], [{}]]],
  ['id', ['evnt01HN2NJ9NMRZBXT1H6FT9N7735']],
  ['client_id', ['clnt01HN2NJ9NMRZBXT1H6FT9N7735']],
  ['Data', [{}]],
];

describe('POST /v2/events', () => {
  const service = useSharedService({ instances: 2, env: WEBHOOK_ENV });

  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => webhooks.consentedUser(client));
  const endpoint = madeOnce(() => webhooks.endpoint(client));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const publish = (fields: Record<string, unknown> = {}, options: HttpOptions & { key?: string } = {}) =>
    webhooks.publish(user.id, fields, options);
  const publishRaw = (body: string, options: HttpOptions = {}) =>
    service.http.send('/v2/events', {
      method: 'POST',
      bearer: webhooks.bearer,
      headers: { 'content-type': 'application/json' },
      body,
      ...options,
    });
  const bodyWith = (data: string) =>
    `{"type":"${TYPE}","user_id":"${user.id}","timestamp":"${TIME}","data":${data}}`;
  const eventCount = async () => (await rowCounts(service)).events;

  describe('refuses, and stores nothing for,', () => {
    let before: Record<string, number>;
    beforeEach(async () => (before = await rowCounts(service)));
    afterEach(async () => expect(await rowCounts(service)).toEqual(before));

    it('a request without a live token', async () => {
      for (const bearer of [undefined, 'garbage']) {
        const answer = await publish({}, { bearer });
        expect([answer.status, Object.keys(answer.json as object).sort()]).toEqual([
          401,
          ['detail', 'status', 'title'],
        ]);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    });

    it('every invalid member, reporting all of them in field_errors', async () => {
      for (const [member, values] of BAD) {
        for (const value of values) {
          const answer = await publish({ [member]: value }, { key: 'refused' });
          const named = membersIn(answer);
          expect([member, value, answer.status, named]).toEqual([member, value, 400, [member]]);
        }
      }
      const both = await publish({ type: 'webhook.test', user_id: UNKNOWN_USER });
      expect(membersIn(both).sort()).toEqual(['type', 'user_id']);
      expect(membersIn(await publish({ type: 1, user_id: 1, timestamp: 1, data: 1 }))).toHaveLength(4);
    });

    it('data that could not be delivered unchanged: NUL, unpaired surrogates, numbers that would change', async () => {
      for (const data of [
        '{"a":"\\u0000"}',
        '{"\\u0000":1}',
        '{"a":"\\ud800"}',
        '{"a":1e400}',
        '{"a":[-1e999]}',
        '{"a":{"b":12345678901234567890}}',
        '{"a":9007199254740993}',
        '{"a":1e-400}',
        '{"a":["x",9007199254740991.4]}',
        '{"a":0.12345678901234567890}',
        '{"\\u0061":1,"b":[{"c":-1e-400}]}',
      ]) {
        expect([data, (await publishRaw(bodyWith(data))).status]).toEqual([data, 400]);
      }
      const tooSmall = await publishRaw(bodyWith('{"a":1e-400}'));
      expect(tooSmall.json.field_errors).toEqual({
        data: ['must not contain a number that is too large to be exact: send it as a string'],
      });
      for (const data of ['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{}}}'])
        expect([data, (await publishRaw(bodyWith(data))).status]).toEqual([data, 400]);
      const deep = '{"a":'.repeat(40) + '1' + '}'.repeat(40);
      expect((await publishRaw(bodyWith(deep))).status).toBe(400);
      expect((await publishRaw(bodyWith('['.repeat(20_000)))).status).toBe(400);
    });

    it('a body of more than 64 kB', async () => {
      const room = LIMIT - Buffer.byteLength(bodyWith('{"a":""}'));
      const answer = await publishRaw(bodyWith(`{"a":"${'x'.repeat(room + 1)}"}`));
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        413,
        'application/problem+json; charset=utf-8',
      ]);
    });

    it('an invalid Idempotency-Key', async () => {
      for (const key of ['', ' ', 'a b', 'ü', 'x'.repeat(256), 'tab\there'])
        expect([key, (await publish({}, { key })).status]).toEqual([key, 400]);
    });

    it('other methods', async () => {
      for (const method of ['PUT', 'DELETE', 'PATCH']) {
        const answer = await service.http.send('/v2/events', { method, bearer: webhooks.bearer });
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([
          method,
          405,
          'GET, HEAD, POST',
        ]);
      }
    });
  });

  it("refuses a token without the scope, including a partner's token", async () => {
    const operator = await service.make.operatorClient(['admin:read', 'admin:write', 'token:introspect']);
    const before = await eventCount();
    for (const bearer of [await service.make.clientToken(operator), await service.make.clientToken(client)]) {
      const answer = await publish({}, { bearer });
      expect([answer.status, Object.keys(answer.json as object).sort()]).toEqual([
        403,
        ['detail', 'status', 'title'],
      ]);
      expect(answer.headers.get('www-authenticate')).toMatch(/insufficient_scope.*event:publish/);
    }
    expect(await eventCount()).toBe(before);
  });

  it('answers 202 with the id and the number of endpoints, even if there are none', async () => {
    const before = webhooks.received(endpoint).length;
    const answer = await publish();
    expect([answer.status, answer.json]).toEqual([
      202,
      { id: expect.stringMatching(/^evnt[0-9A-HJKMNP-TV-Z]{26}$/), deliveries: 1 },
    ]);
    await webhooks.receives(endpoint, before + 1);
    const unheard = await webhooks.publish((await service.make.user()).id);
    expect([unheard.status, unheard.json.deliveries]).toEqual([202, 0]);
  });

  describe('delivers unchanged', () => {
    let eventId: string;
    const delivered = async (data: string) => {
      const before = webhooks.received(endpoint).length;
      const answer = await publishRaw(bodyWith(data));
      expect([data.slice(0, 100), answer.status]).toEqual([data.slice(0, 100), 202]);
      eventId = answer.json.id as string;
      await webhooks.receives(endpoint, before + 1);
      return webhooks.received(endpoint).at(-1)!.body;
    };

    it.each([
      ['{}'],
      ['{"constructor":"a car","prototype":1,"toString":null,"hasOwnProperty":true,"length":-1}'],
      ['{"a":{"constructor":1,"prototype":{"x":1}},"list":[{"prototype":[]},{"constructor":null}]}'],
      ['{"type":"x","user_id":"y","data":{"data":{}},"then":1,"toJSON":"no"}'],
      ['{"":"","a b":"c","\u00e4\u{1f50c}":"\u{1f697}\u202e\u0301","line":"a\\nb\\t\\"\\\\ \u007f"}'],
      ['{"numbers":[0,-1,1.5,1e-7,9007199254740991,-9007199254740991,0.1,-0.000001]}'],
      ['{"empty":[[],{},"",null,false]}'],
      ['{"date":"2026-01-01T00:00:00Z","ids":["01"],"bool":"true"}'],
    ])('%s', async (data) => expect(await delivered(data)).toBe(bodyForReceiver(data)));

    it('numbers with the same value, however they were written', async () => {
      const written = '{"a":[1.10,1e2,-0.0,1.0,0.0000001],"1e-400":"0.12345678901234567890"}';
      const value = '{"a":[1.1,100,0,1,1e-7],"1e-400":"0.12345678901234567890"}';
      expect(await delivered(written)).toBe(bodyForReceiver(value));
    });

    it('a body of 64 kB, and the deepest nesting that is allowed', async () => {
      const room = LIMIT - Buffer.byteLength(bodyWith('{"a":""}'));
      const large = `{"a":"${'x'.repeat(room)}"}`;
      expect(await delivered(large)).toBe(bodyForReceiver(large));
      const deep = '{"a":'.repeat(30) + '1' + '}'.repeat(30);
      expect(await delivered(deep)).toBe(bodyForReceiver(deep));
    });

    it('the moment of the time, converted to UTC', async () => {
      const times: [string, string][] = [
        ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00Z'],
        ['2026-01-31T08:00:00.123456Z', '2026-01-31T08:00:00.123456Z'],
        ['2026-01-31T08:00:00+02:00', '2026-01-31T06:00:00.000Z'],
      ];
      for (const [sent, expected] of times) {
        const before = webhooks.received(endpoint).length;
        await publish({ timestamp: sent });
        await webhooks.receives(endpoint, before + 1);
        expect(JSON.parse(webhooks.received(endpoint).at(-1)!.body)).toMatchObject({ timestamp: expected });
      }
    });

    const bodyForReceiver = (data: string) =>
      `{"id":"${eventId}","type":"${TYPE}","timestamp":"${TIME}","user_id":"${user.id}","data":${data}}`;
  });
});
