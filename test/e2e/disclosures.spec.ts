import { randomUUID } from 'node:crypto';
import { batchDigestOf } from '#events/disclosures/batch-digest.js';
import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import { untilHourHasRoom } from '../support/hours.js';
import { membersIn, type HttpOptions } from '../support/http.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { madeForEach, madeOnce, unexpectedErrors, useSharedService } from '../support/spec.js';
import { connectionTo } from '../support/test-database.js';

const UNKNOWN_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const UNKNOWN_CLIENT = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
const SCOPE = 'vehicle:read';
const DAY_MS = 86_400_000;

// What is read is counted by the day.
beforeEach(untilHourHasRoom);

describe('POST /v2/disclosures', () => {
  const service = useSharedService({ instances: 2 });

  const reporter = madeOnce(() => service.make.operatorClient(['token:introspect']));
  const own = madeOnce(async () => ({ token: await service.make.clientToken(reporter) }));
  const client = madeOnce(() => service.make.client());
  const user = madeForEach(() => service.make.user());
  beforeEach(() => service.make.consent(client, user));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const one = (changes: Record<string, unknown> = {}) => ({
    client_id: client.id,
    user_id: user.id,
    scope: SCOPE,
    requests: 2,
    ...changes,
  });
  const report = (
    disclosures: unknown = [one()],
    { batchId = randomUUID(), http = service.http, ...options }: HttpOptions & { batchId?: unknown; http?: typeof service.http } = {}, // oxfmt-ignore
  ) =>
    http.send('/v2/disclosures', { bearer: own.token, json: { batch_id: batchId, disclosures }, ...options });
  /** The day so many days from now, by the clock of the database. */
  const day = async (days: number): Promise<string> => {
    const today = await service.database.value<string>("SELECT ((now() AT TIME ZONE 'UTC')::date)::text");
    return new Date(Date.parse(today!) + days * DAY_MS).toISOString().slice(0, 10);
  };
  const sums = (of = user) =>
    service.database.query<{ day: string; scope: string; requests: string }>(
      `SELECT client_id AS client, day::text, scope, requests::int FROM disclosure_days
        WHERE user_id = $1 ORDER BY day, scope`,
      [of.id],
    );
  const batches = () =>
    service.database.value<number>('SELECT count(*)::int FROM disclosure_batches WHERE reporter_id = $1', [
      reporter.id,
    ]);

  describe('refuses', () => {
    it('requests without a token, and tokens without the scope', async () => {
      const others = [
        await service.make.adminToken(['admin:read', 'admin:write', 'event:publish']),
        await service.make.clientToken(client),
        (await service.make.tokens(client, user)).access_token,
      ];
      expect((await report([one()], { bearer: undefined })).status).toBe(401);
      expect((await report([one()], { bearer: 'cds_at_nothing' })).status).toBe(401);
      for (const bearer of others) {
        const answer = await report([one()], { bearer });
        expect([answer.status, Object.keys(answer.json as object).sort()]).toEqual([
          403,
          ['detail', 'status', 'title'],
        ]);
        expect(answer.headers.get('www-authenticate')).toContain('scope="token:introspect"');
      }
      expect(await sums()).toEqual([]);
    });

    it.each<[member: string, values: unknown[]]>([
      ['client_id', [undefined, null, '', 1, {}, [], 'x', UNKNOWN_USER]],
      ['user_id', [undefined, null, '', 1, 'x', UNKNOWN_CLIENT, `${UNKNOWN_USER} `]],
      ['scope', [undefined, null, '', 1, 'account data', 'Vehicle:read', 'x'.repeat(65), ['vehicle:read']]],
      ['requests', [undefined, null, 0, -1, 1.5, '1', 1_000_001, 1e300, true]],
      ['day', [null, '', 1, 'today', '2026-1-1', '2026-02-30', '2026-01-01T00:00:00Z', '0000-00-00']],
      ['deliveries', [1]],
      ['__proto', [{}]],
    ])('%s that is not allowed, and says in which part', async (member, values) => {
      for (const value of values) {
        const answer = await report([one(), one({ [member]: value })]);
        expect([value, answer.status, membersIn(answer)]).toEqual([value, 400, [`disclosures.1.${member}`]]);
      }
      expect(await sums()).toEqual([]);
    });

    it('what is no list of 1 to 300 objects', async () => {
      for (const disclosures of [
        undefined,
        null,
        'x',
        1,
        {},
        one(),
        [],
        [1],
        [null],
        [[]],
        [[one()]],
        ['x'],
        [one(), undefined],
        Array.from({ length: 301 }, () => ({})),
      ]) {
        const answer = await report([], { json: { batch_id: 'x', disclosures } });
        expect([disclosures, answer.status, membersIn(answer)]).toEqual([disclosures, 400, ['disclosures']]);
      }
    });

    it('other ids of batches, and other members', async () => {
      for (const batchId of [null, '', 1, 'a b', 'ü', 'x'.repeat(65), {}, ['x']]) {
        const answer = await report([one()], { batchId });
        expect([batchId, answer.status, membersIn(answer)]).toEqual([batchId, 400, ['batch_id']]);
      }
      const answer = await report([], { json: { batch_id: 'x', disclosures: [one()], reporter: 'x' } });
      expect([answer.status, membersIn(answer)]).toEqual([400, ['reporter']]);
    });

    it('days that are too early or still to come, and counts nothing of the batch', async () => {
      const before = await batches();
      const answer = await report([
        one({ day: await day(-3) }),
        one(),
        one({ day: await day(2) }),
        one({ day: '1900-01-01' }),
        one({ day: '9999-12-31' }),
      ]);
      expect([answer.status, membersIn(answer)]).toEqual([
        400,
        ['disclosures.0.day', 'disclosures.2.day', 'disclosures.3.day', 'disclosures.4.day'],
      ]);
      expect([await sums(), await batches()]).toEqual([[], before]);
    });
  });

  it('counts by client, user, day and scope', async () => {
    const [today, yesterday, earliest] = [await day(0), await day(-1), await day(-2)];
    const answer = await report([
      one(),
      one({ requests: 3 }),
      one({ scope: 'charging_session:read', requests: 1_000_000 }),
      one({ day: yesterday, requests: 5 }),
      one({ day: earliest, requests: 7 }),
    ]);
    expect([answer.status, answer.json]).toEqual([200, { counted: 5 }]);
    expect((await report([one({ requests: 1 })])).json).toEqual({ counted: 1 });
    expect(await sums()).toEqual([
      { client: client.id, day: earliest, scope: SCOPE, requests: 7 },
      { client: client.id, day: yesterday, scope: SCOPE, requests: 5 },
      { client: client.id, day: today, scope: 'charging_session:read', requests: 1_000_000 },
      { client: client.id, day: today, scope: SCOPE, requests: 6 },
    ]);
  });

  it('takes as many as it says, with the longest names', async () => {
    const answer = await report(
      Array.from({ length: 300 }, (_, n) => one({ scope: `${'x'.repeat(60)}.${n}`, requests: 1_000_000, day: '2000-01-01' })), // oxfmt-ignore
    );
    // Their days are wrong, but their size is not.
    expect([answer.status, membersIn(answer).length]).toEqual([400, 300]);
  });

  it('leaves out whoever never consented to the client, or was erased, and scopes that users do not give', async () => {
    const [stranger, erased] = [await service.make.user(), await service.make.user()];
    await service.make.consent(client, erased);
    await service.make.eraseUser(erased);
    const other = await service.make.client();
    const answer = await report([
      one({ user_id: UNKNOWN_USER }),
      one({ client_id: UNKNOWN_CLIENT }),
      one({ user_id: stranger.id }),
      one({ user_id: erased.id }),
      one({ client_id: other.id }),
      one({ scope: 'nobody:knows' }),
      one({ scope: 'admin:read' }),
      one(),
    ]);
    expect([answer.status, answer.json]).toEqual([200, { counted: 1 }]);
    expect((await sums()).map(({ requests }) => requests)).toEqual([2]);
    expect([await sums(stranger), await sums(erased)]).toEqual([[], []]);
  });

  it('counts what was served before a consent ended', async () => {
    await service.make.revokeConsent(client, user);
    expect((await report()).json).toEqual({ counted: 1 });
  });

  it('counts a batch once though sent twice, and answers the same', async () => {
    const batchId = randomUUID();
    const batch = [one(), one({ user_id: UNKNOWN_USER })];
    for (const { http } of [...service.instances, ...service.instances]) {
      const answer = await report(batch, { batchId, http });
      expect([answer.status, answer.json]).toEqual([200, { counted: 1 }]);
    }
    expect((await sums()).map(({ requests }) => requests)).toEqual([2]);
  });

  it('answers a repeated batch as before when its days have become too early', async () => {
    const batchId = randomUUID();
    const early = { clientId: client.id, userId: user.id, scope: SCOPE, requests: 2, day: '2026-01-01' };
    await service.database.query(
      'INSERT INTO disclosure_batches (reporter_id, batch_id, body_digest, counted) VALUES ($1, $2, $3, 7)',
      [reporter.id, batchId, batchDigestOf([early])],
    );
    expect((await report([one({ day: '2026-01-01' })], { batchId })).json).toEqual({ counted: 7 });
    expect((await report([one({ day: '2026-01-02' })], { batchId })).status).toBe(422);
    expect((await report([one({ day: '2026-01-01' })])).status).toBe(400);
    expect(await sums()).toEqual([]);
  });

  it('refuses other disclosures under the id of a batch, but not those of another client', async () => {
    const batchId = randomUUID();
    await report([one()], { batchId });
    const answer = await report([one({ requests: 3 })], { batchId });
    expect([answer.status, answer.json.type]).toEqual([
      422,
      expect.stringMatching(/\/v2\/problems\/unprocessable-content\/$/),
    ]);
    expect((await sums()).map(({ requests }) => requests)).toEqual([2]);
    const other = await service.make.clientToken(await service.make.operatorClient(['token:introspect']));
    expect((await report([one({ requests: 3 })], { batchId, bearer: other })).json).toEqual({ counted: 1 });
    expect((await sums()).map(({ requests }) => requests)).toEqual([5]);
  });

  it('counts one batch once, and many all, at two instances at the same time', async () => {
    const users = [user, await service.make.user(), await service.make.user()];
    for (const each of users.slice(1)) await service.make.consent(client, each);
    const batchId = randomUUID();
    const batch = users.map(({ id }) => one({ user_id: id }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        report(n % 4 < 2 ? batch : batch.toReversed(), {
          http: service.instances[n % 2]!.http,
          batchId: n % 4 === 0 ? batchId : randomUUID(),
        }),
      ),
    );
    expect(answers.map(({ status, json }) => [status, json.counted as number])).toEqual(
      answers.map(() => [200, 3]),
    );
    // One for the five that were the same, and fifteen others.
    for (const each of users) expect((await sums(each)).map(({ requests }) => requests)).toEqual([32]);
  });

  it('waits for an erasure that has begun, and then leaves the person out', async () => {
    const held = await connectionTo(service);
    await held.query('BEGIN');
    await held.query('DELETE FROM consents WHERE user_id = $1', [user.id]);
    const answer = report([one()]);
    await untilWaitingForLocks(service.database, 1);
    await held.query('COMMIT');
    await held.end();
    expect((await answer).json).toEqual({ counted: 0 });
    expect(await sums()).toEqual([]);
  });

  it('forgets what was read with the person, and with the client', async () => {
    const [person, going] = [await service.make.user(), await service.make.client()];
    for (const each of [client, going]) await service.make.consent(each, person);
    await report([one({ user_id: person.id }), one({ user_id: person.id, client_id: going.id })]);
    expect(await sums(person)).toHaveLength(2);
    await service.make.deleteClient(going);
    expect((await sums(person)).map((each) => each)).toMatchObject([{ client: client.id }]);
    await service.make.eraseUser(person);
    expect(await sums(person)).toEqual([]);
  });

  it('counts for a service of a sandbox what concerns that sandbox only', async () => {
    const inSandbox = await service.make.client({
      scopes: ['token:introspect'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
      environment: 'sandbox',
    });
    const bearer = await service.make.clientToken(inSandbox);
    expect((await report([one()], { bearer })).json).toEqual({ counted: 0 });
    expect(await sums()).toEqual([]);
  });

  it('is counted in the metrics', async () => {
    const metric = async (result: string) => {
      const { text } = await service.http.get('/metrics');
      const [, value] = new RegExp(`^disclosures_reported_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(
        text,
      )!;
      return Number(value);
    };
    const all = () => Promise.all(['counted', 'left_out', 'repeated'].map(metric));
    const before = await all();
    const batchId = randomUUID();
    for (let n = 0; n < 2; n++) await report([one(), one({ user_id: UNKNOWN_USER })], { batchId });
    expect((await all()).map((value, n) => value - before[n]!)).toEqual([1, 1, 2]);
  });
});

describe('What the service itself serves', () => {
  const service = useSharedService({ instances: 2 });
  const client = madeOnce(() => service.make.client());
  const user = madeForEach(() => service.make.user());

  const flush = () => service.app.get(DisclosedReadsService).flush();
  const sums = () =>
    service.database.query(
      'SELECT client_id AS client, scope, requests::int, deliveries::int FROM disclosure_days WHERE user_id = $1 ORDER BY scope',
      [user.id],
    );

  it('is counted where it says who the user is, but neither lists of ids nor answers without a body', async () => {
    const { access_token: bearer } = await service.make.tokens(client, user);
    const own = await service.make.clientToken(client);
    for (const path of ['/v2/users', `/v2/users/${user.id}`])
      expect((await service.http.get(path, { bearer: own })).status).toBe(200);
    for (const path of ['/v2/users', '/v2/users/me', `/v2/users/${user.id}`])
      expect((await service.http.send(path, { bearer, method: 'HEAD' })).status).toBe(200);
    await flush();
    expect(await sums()).toEqual([]);
    for (const path of ['/v2/users', '/v2/users/me', `/v2/users/${user.id}`])
      expect((await service.http.get(path, { bearer })).json).toBeDefined();
    await flush();
    expect(await sums()).toEqual([{ client: client.id, scope: 'account data', requests: 3, deliveries: 0 }]);
  });

  it('is counted later when the database is away, and once though its write is repeated', async () => {
    await service.make.consent(client, user);
    const reads = service.app.get(DisclosedReadsService);
    await flush();
    const read = { clientId: client.id, userId: user.id, scope: SCOPE };
    const { repository } = reads as unknown as { repository: { count: (batch: object) => Promise<unknown> } };
    const count = repository.count.bind(repository);
    const broken = jest.spyOn(repository, 'count');
    broken.mockRejectedValueOnce(new Error('Connection terminated'));
    reads.note(read);
    await flush();
    // The next write succeeds, and its answer is lost.
    broken.mockImplementationOnce(async (batch) => {
      await count(batch);
      throw new Error('Connection terminated');
    });
    reads.note(read);
    await flush();
    await flush();
    expect(await sums()).toMatchObject([{ requests: 2 }]);
  });
});
