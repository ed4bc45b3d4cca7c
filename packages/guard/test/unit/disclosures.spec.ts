import { HeldTimers } from '../../../../test/support/held-timers.js';
import { until } from '../../../../test/support/until.js';
import { DisclosureCounts } from '../../src/disclosure-counts.js';
import { AccessGuard, type GuardOptions } from '../../src/index.js';
import { active, CLIENT, StandIn, TOKEN, USER } from './stand-in.js';

const OTHER_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7736';
const SCOPES = ['vehicle:read'];

/** What the guard reports of what it let through. Its timers fire when a test says so: five seconds, and longer after failures. */
describe('The guard reports', () => {
  let service: StandIn;
  let guard: AccessGuard;
  let warnings: string[];
  let timers: HeldTimers;

  const make = (options: Partial<GuardOptions> = {}): AccessGuard =>
    (guard = new AccessGuard({
      url: service.url,
      clientId: CLIENT,
      clientSecret: 'cds_cs_the-secret-of-the-guard',
      resource: 'https://data.example.com',
      followChanges: false,
      timeoutMs: 60_000,
      onWarning: (message) => warnings.push(message),
      ...options,
    }));
  const serve = (userId: string | undefined = USER, scopes: string[] = SCOPES) =>
    guard.authorize({ authorization: `Bearer ${TOKEN}` }, { scopes, userId });
  const reportNow = async (): Promise<void> => {
    const { length } = service.reports;
    timers.letPass();
    await until('it has reported', () => service.reports.length > length);
  };
  const waiting = () => guard.statistics.disclosures.waiting;

  beforeEach(async () => {
    warnings = [];
    timers = HeldTimers.hold(5_000, 60_000, 'disclosure-reports');
    service = await StandIn.start();
  });
  afterEach(async () => {
    await guard.close();
    timers.release();
    await service.stop();
  });

  it('nothing that it refused, nothing without a user, and nothing at all if it is switched off', async () => {
    make();
    service.introspect = () => ({ status: 200, body: active({ scope: '' }) });
    await expect(serve()).rejects.toMatchObject({ status: 403 });
    service.introspect = () => ({
      status: 200,
      body: active({ grant_type: 'client_credentials', sub: CLIENT }),
    });
    await guard.authorize({ authorization: 'Bearer another' }, { scopes: SCOPES });
    expect([waiting(), timers.count]).toEqual([0, 0]);
    await guard.close();

    make({ reportDisclosures: false });
    service.introspect = () => ({ status: 200, body: active() });
    await serve();
    expect([waiting(), timers.count]).toEqual([0, 0]);
    await guard.close();
    expect(service.reports).toEqual([]);
  });

  it('what it let through, in sums by client, user and scope', async () => {
    make();
    // All on one day, also at midnight.
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now);
    for (let n = 0; n < 3; n++) await serve();
    await serve(OTHER_USER);
    // Of the user of the token.
    await guard.authorize({ authorization: `Bearer ${TOKEN}` }, { scopes: SCOPES });
    clock.mockRestore();
    expect(service.reports).toEqual([]);
    await reportNow();
    const day = new Date(now).toISOString().slice(0, 10);
    expect(service.reports[0]!.disclosures).toEqual([
      { client_id: CLIENT, user_id: USER, scope: 'vehicle:read', requests: 4, day },
      { client_id: CLIENT, user_id: OTHER_USER, scope: 'vehicle:read', requests: 1, day },
    ]);
    await until('it knows', () => waiting() === 0);
    expect(guard.statistics.disclosures).toEqual({ reported: 2, waiting: 0, lost: 0 });
    expect(warnings).toEqual([]);
  });

  it('every scope that a token allows, where a route names none', async () => {
    make();
    service.introspect = () => ({
      status: 200,
      body: active({ scope: 'charging_session:read vehicle:read' }),
    });
    await serve(USER, []);
    await reportNow();
    expect(service.reports[0]!.disclosures.map(({ scope }) => scope)).toEqual([
      'charging_session:read',
      'vehicle:read',
    ]);
  });

  it('what a program says that it served', async () => {
    make();
    const access = await guard.scopesFor(TOKEN, OTHER_USER);
    expect(timers.count).toBe(0);
    guard.noteServed(access!, SCOPES, OTHER_USER);
    await reportNow();
    expect(service.reports[0]!.disclosures).toMatchObject([{ user_id: OTHER_USER, requests: 1 }]);
  });

  it.each([500, 503, 429, 408, 302])(
    'the same batch again after %s, and later what came since',
    async (status) => {
      make();
      service.report = () => status;
      await serve();
      await reportNow();
      await until('it waits', () => timers.count === 1);
      expect(warnings).toEqual([`What was read is reported later: the report was answered with ${status}`]);
      await serve(OTHER_USER);
      await reportNow();
      await until('it waits', () => timers.count === 1);
      service.report = () => 200;
      await reportNow();
      await until('all is reported', () => waiting() === 0);
      const [first, second, third, fourth] = service.reports;
      expect([second, third]).toEqual([first, first]);
      expect(fourth!.batch_id).not.toBe(first!.batch_id);
      expect(fourth!.disclosures).toMatchObject([{ user_id: OTHER_USER }]);
      expect(warnings.slice(1)).toEqual(['What was read is reported again.']);
    },
  );

  it('with a new token when its own has ended', async () => {
    make();
    service.report = () => (service.reports.length === 1 ? 401 : 200);
    await serve();
    timers.letPass();
    await until('it is reported', () => guard.statistics.disclosures.reported === 1);
    expect([service.tokens, service.reports.length]).toEqual([2, 2]);
    expect(service.reports[1]).toEqual(service.reports[0]);
  });

  it.each([400, 403, 404, 413, 422])('no more of what is answered with %s, and says so', async (status) => {
    make();
    service.report = () => status;
    await serve();
    await reportNow();
    await until('it is lost', () => guard.statistics.disclosures.lost === 1);
    expect(waiting()).toBe(0);
    expect(warnings).toEqual([
      `Some of what was read is not reported: the report was answered with ${status}`,
    ]);
  });

  it('in parts that are not too large', async () => {
    make();
    const access = (await guard.scopesFor(TOKEN, USER))!;
    for (let n = 0; n < 650; n++) guard.noteServed(access, [`scope:${n}`]);
    await reportNow();
    await until('all is reported', () => waiting() === 0);
    expect(service.reports.map(({ disclosures }) => disclosures.length)).toEqual([300, 300, 50]);
    expect(new Set(service.reports.map(({ batch_id: id }) => id)).size).toBe(3);
  });

  it('what is left when it is closed, once, and nothing afterwards', async () => {
    make();
    const access = (await guard.scopesFor(TOKEN, USER))!;
    guard.noteServed(access, SCOPES);
    await Promise.all([guard.close(), guard.close()]);
    expect(service.reports).toHaveLength(1);
    guard.noteServed(access, SCOPES);
    expect([waiting(), timers.count]).toEqual([0, 0]);
  });

  it('what it can when it is closed, and says what it could not', async () => {
    make();
    service.report = () => 503;
    await serve();
    await guard.close();
    expect(guard.statistics.disclosures).toMatchObject({ reported: 0, lost: 1 });
    expect(warnings.at(-1)).toMatch(/did not answer before the guard was closed$/);
    expect(warnings.join()).not.toContain('cds_');
  });

  it('nothing late: requests are answered while the service is away, and what is too much is dropped', async () => {
    make();
    const access = (await guard.scopesFor(TOKEN, USER))!;
    await service.stop();
    for (let n = 0; n < 20_100; n++) guard.noteServed(access, [`scope:${n}`]);
    expect(guard.statistics.disclosures).toEqual({ reported: 0, waiting: 20_000, lost: 100 });
    expect(warnings).toEqual(['Some of what was read is not reported: too many at once wait to be reported']);
    service = await StandIn.start();
  });
});

describe('Counts of what was served', () => {
  it('are reported in parts if they are larger than the service takes, and each day by itself', () => {
    const counts = new DisclosureCounts(10);
    const { now } = Date;
    try {
      // Not by a mock, which keeps a record of each of a million calls.
      const lastOfFebruary = Date.parse('2026-02-28T23:59:59.999Z');
      Date.now = () => lastOfFebruary;
      for (let n = 0; n < 1_000_001; n++) counts.add(CLIENT, USER, 'a');
      Date.now = () => lastOfFebruary + 1;
      counts.add(CLIENT, USER, 'a');
    } finally {
      Date.now = now;
    }
    const take = () => counts.take().map(({ day, requests }) => [day, requests]);
    expect(take()).toEqual([['2026-02-28', 1_000_000]]);
    expect(take()).toEqual([['2026-02-28', 1]]);
    expect(take()).toEqual([['2026-03-01', 1]]);
    expect(take()).toEqual([]);
  });
});
