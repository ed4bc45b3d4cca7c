import { type BrowserSession, madeForEach, until, WEBHOOK_ENV } from '../support/spec.js';
import { LARGE_READS_PER_ACCOUNT, LARGE_READS_PER_INSTANCE } from '#platform/http/page-routes/large-reads.js';
import { enterPortal, makeEndpoint, seedDelivery } from '../support/portal.js';
import { connectionTo } from '../support/test-database.js';
import { PATIENT, useService } from '../support/test-service.js';

const COUNT = '/portal/deliveries/matching';
const FILE = '/portal/deliveries/csv';
const SEARCH = '/portal/search?q=vehicle';
const EVERYTHING = [COUNT, FILE, SEARCH];

/* Contract §7: exports, searches and counts. */
describe('What reads much', () => {
  const service = useService({ env: { ...WEBHOOK_ENV, DATABASE_POOL_SIZE: '20' }, databaseOptions: PATIENT });
  const client = madeForEach(() => service.make.client());
  const browser = madeForEach(() => enterPortal(service, client));

  /** Until `free`, nothing that reads deliveries gets an answer. */
  const hold = async (): Promise<() => Promise<unknown>> => {
    const connection = await connectionTo(service);
    await connection.query('BEGIN');
    await connection.query('LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
    return () => connection.query('COMMIT');
  };
  /** Until so many counts wait; the queue's own work waits too. */
  const waiting = async (count: number): Promise<void> =>
    until('they wait', async () => {
      const [row] = await service.database.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT count(*)%"deliveries"%'`,
      );
      return row!.count >= count;
    });
  const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => status);

  it('runs twice at a time for an account, and again when one is done', async () => {
    await seedDelivery(service, await makeEndpoint(service, client), { state: 'failed', isTest: true });
    const other = await enterPortal(service, client);
    const free = await hold();
    const underWay = [browser.open(COUNT), other.open(COUNT)];
    await waiting(LARGE_READS_PER_ACCOUNT);
    for (const path of EVERYTHING) {
      const refused = await browser.open(path);
      expect([path, refused.status, refused.headers.get('content-type')]).toEqual([
        path,
        429,
        'text/html; charset=utf-8',
      ]);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.html.text).toContain('Two files, searches or counts of yours are still under way.');
    }
    // Other pages, and others, are not refused.
    expect((await browser.open('/portal/verify')).status).toBe(200);
    const stranger = (await enterPortal(service, await service.make.client())).open(COUNT);
    await waiting(LARGE_READS_PER_ACCOUNT + 1);
    await free();
    expect(statusesOf(await Promise.all([...underWay, stranger]))).toEqual([200, 200, 200]);
    for (const path of EVERYTHING) expect((await browser.open(path)).status).toBe(200);
  });

  it('runs eight times at a time on an instance, for everybody', async () => {
    const browsers: BrowserSession[] = [];
    for (let n = 0; n <= LARGE_READS_PER_INSTANCE / LARGE_READS_PER_ACCOUNT; n++)
      browsers.push(await enterPortal(service, await service.make.client()));
    const late = browsers.pop()!;
    const free = await hold();
    const underWay = browsers.flatMap((each) => [each.open(COUNT), each.open(COUNT)]);
    await waiting(LARGE_READS_PER_INSTANCE);
    const refused = await late.open(COUNT);
    expect(refused.status).toBe(429);
    expect(refused.html.text).toContain('Many files, searches and counts are under way at the moment.');
    await free();
    expect(new Set(statusesOf(await Promise.all(underWay)))).toEqual(new Set([200]));
    expect((await late.open(COUNT)).status).toBe(200);
  });

  it('counts until its work has ended, also for those who do not wait for the answer', async () => {
    const free = await hold();
    const leaving = new AbortController();
    const headers = { cookie: [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
    const left = [1, 2].map(() =>
      fetch(service.url + COUNT, { headers, signal: leaving.signal }).catch(() => undefined),
    );
    await waiting(LARGE_READS_PER_ACCOUNT);
    leaving.abort();
    await Promise.all(left);
    expect((await browser.open(COUNT)).status).toBe(429);
    await free();
    await until('they have ended', async () => (await browser.open(COUNT)).status === 200);
  });
});
