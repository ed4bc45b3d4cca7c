import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { UsersRepository } from '#access/users/accounts/users.repository.js';
import { DELIVERY_STATES } from '#events/webhooks/deliveries/delivery.js';
import type { PageRequest } from '#platform/database/queries/read-page.js';
import { DeliveriesRepository } from '#events/webhooks/deliveries/deliveries.repository.js';
import { EndpointsRepository } from '#events/webhooks/endpoints/endpoints.repository.js';
import { useService } from './test-service.js';

export interface Plan {
  'Node Type': string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  Plans?: Plan[];
}

/** A page of 25 with its joins; fetching one row for each of the others takes ten times as many. */
const READ_AT_MOST = 1_000;

const id = (prefix: string, n: number) => `${prefix}${String(n).padStart(26, '0')}`;
const CLIENTS = { usual: id('clnt', 1), rare: id('clnt', 2) };
const ENDPOINTS = { usual: id('endp', 1), failing: id('endp', 2), rare: id('endp', 3) };
const PAGE = { size: 25 };

/** What the lists of operators read, by their plans, in tables of this size. */
export function describeListPlans(rows: number): void {
  describe(`a page of a list that is filtered, of ${rows.toLocaleString('en-GB')} rows,`, () => {
    const service = useService({ env: { ROLE: 'api' } });
    let dataSource: DataSource;

    beforeAll(async () => {
      dataSource = service.app.get(DataSource);
      await fill();
    });

    /** Most deliveries are old and delivered; the newest wait in a backlog; one endpoint has only failures. */
    const fill = async () => {
      const { query } = service.database;
      // Built at once afterwards: row by row they take far longer than the rows.
      const indexes = await query<{ name: string; definition: string }>(
        `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
          WHERE indrelid IN ('users'::regclass, 'deliveries'::regclass, 'webhook_endpoints'::regclass)
            AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
      );
      await query(`
      DROP INDEX ${indexes.map(({ name }) => name).join(', ')};
      SET session_replication_role = replica;
      INSERT INTO users (id, email, email_key, name, kind, role)
      SELECT 'user' || lpad(n::text, 26, '0'), 'driver' || n || '@mail.example', 'driver' || n || '@mail.example',
             'Driver ' || md5(n::text), 'individual', 'user' FROM generate_series(1, ${rows}) n;
      INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
      SELECT 'clnt' || lpad(n::text, 26, '0'), 'Client', 'confidential', '{}', '{}', '{}', '${id('user', 1)}'
        FROM generate_series(1, 2) n;
      INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
      SELECT 'endp' || lpad(n::text, 26, '0'), CASE n WHEN 3 THEN '${CLIENTS.rare}' ELSE '${CLIENTS.usual}' END,
             'https://partner.example/' || n, '{vehicle.updated}', '' FROM generate_series(1, 3) n;
      INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
      SELECT 'endp' || lpad(n::text, 26, '0'), '${CLIENTS.usual}', 'https://' || md5(n::text) || '.example/hooks', '{vehicle.updated}', ''
        FROM generate_series(4, ${rows}) n;
      INSERT INTO events (id, type, user_id, payload, deliveries)
      SELECT 'evnt' || lpad(n::text, 26, '0'), 'vehicle.updated', '${id('user', 1)}', '{}', 0
        FROM generate_series(1, 1000) n;
      INSERT INTO events (id, type, payload, deliveries, test)
      SELECT 'evnt' || lpad((1000 + n)::text, 26, '0'), 'webhook.test', '{}', 1, true FROM generate_series(1, 20) n;
      INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, cancel_reason, next_attempt_at, finished_at)
      SELECT 'dlvr' || lpad(n::text, 26, '0'), 'evnt' || lpad((CASE WHEN test THEN 1000 + n / 1000 ELSE n % 1000 + 1 END)::text, 26, '0'),
             CASE WHEN test THEN 'webhook.test' ELSE 'vehicle.updated' END,
             CASE WHEN n <= 40 THEN '${ENDPOINTS.rare}' WHEN n % 50 = 0 THEN '${ENDPOINTS.failing}' ELSE '${ENDPOINTS.usual}' END,
             CASE WHEN n <= 40 THEN '${CLIENTS.rare}' ELSE '${CLIENTS.usual}' END,
             state, CASE state WHEN 'cancelled' THEN 'client_disabled' END, CASE state WHEN 'pending' THEN now() END, CASE WHEN state <> 'pending' THEN now() END
        FROM (SELECT n, n % 1000 = 0 AND n <= 20000 AS test, CASE WHEN n > ${rows} * 0.7 THEN 'pending' WHEN n % 50 = 0 THEN 'failed'
                             WHEN n BETWEEN 41 AND 60 THEN 'cancelled' ELSE 'delivered' END AS state
                FROM generate_series(1, ${rows}) n) d;
      RESET session_replication_role;
      ${indexes.map(({ definition }) => definition).join(';\n')};
    `);
      await query('VACUUM ANALYZE users');
      await query('VACUUM ANALYZE deliveries');
      await query('VACUUM ANALYZE webhook_endpoints');
      await query('ANALYZE');
    };

    /** How many rows the statements of some work look at, by their plans. */
    const rowsReadBy = async (work: () => Promise<unknown>): Promise<number> => {
      const plans = await plansOf(dataSource, /^SELECT ("(delivery|user)"|e\.id )/, work);
      return plans.reduce((sum, plan) => sum + rowsOf(plan), 0);
    };

    describe('of deliveries', () => {
      const filters = [
        ...DELIVERY_STATES.map((state) => ({ state })),
        ...Object.values(ENDPOINTS).flatMap((endpointId) => [
          { endpointId },
          ...DELIVERY_STATES.map((state) => ({ endpointId, state })),
        ]),
        ...Object.values(CLIENTS).flatMap((clientId) => [
          { clientId },
          ...DELIVERY_STATES.map((state) => ({ clientId, state })),
        ]),
        { clientId: CLIENTS.rare, endpointId: ENDPOINTS.usual },
        // Of most, of few and of none.
        ...['vehicle.updated', 'webhook.test', 'zzz'].flatMap((eventType) => [
          { eventType },
          ...Object.values(CLIENTS).map((clientId) => ({ clientId, eventType })),
          { endpointId: ENDPOINTS.usual, eventType },
          ...DELIVERY_STATES.map((state) => ({ clientId: CLIENTS.usual, eventType, state })),
        ]),
      ];

      it.each(filters)('%j reads what it shows', async (filter) => {
        const list = () => service.app.get(DeliveriesRepository).list(filter, PAGE);
        expect(await rowsReadBy(list)).toBeLessThan(READ_AT_MOST);
      });
    });

    describe('of users', () => {
      it.each([['md5 of nothing'], ['c4ca42'], ['driver77'], ['zzz'], ['mail.example']])(
        'with “%s” in their name or address reads what it shows',
        async (q) => {
          const list = () => service.app.get(UsersRepository).list({ q }, PAGE);
          // All that match are read, and sorted, or the newest are walked over until a page of them matches.
          expect(await rowsReadBy(list)).toBeLessThan(READ_AT_MOST * 10);
        },
      );

      it('with a name that the sample of PostgreSQL holds, as if it were frequent, reads what it shows', async () => {
        const [{ name }] = (await service.database.query(
          "SELECT (histogram_bounds::text::text[])[50] AS name FROM pg_stats WHERE tablename = 'users' AND attname = 'name'",
        )) as [{ name: string }];
        const list = () => service.app.get(UsersRepository).list({ q: name }, PAGE);
        expect((await list()).items).toMatchObject([{ name }]);
        expect(await rowsReadBy(list)).toBeLessThan(READ_AT_MOST * 10);
      });

      it('goes on with a search where a page of it ended, forwards and backwards', async () => {
        const list = (page: PageRequest) => service.app.get(UsersRepository).list({ q: 'c4c' }, page);
        const all = await service.database.column<string>(
          "SELECT id FROM users WHERE name ILIKE '%c4c%' OR email ILIKE '%c4c%' ORDER BY id",
        );
        const seen: string[] = [];
        let page = await list({ size: 100 });
        const firstIds = page.items.map(({ id: each }) => each);
        for (;;) {
          seen.push(...page.items.map(({ id: each }) => each));
          if (!page.hasNext || seen.length > 500) break;
          page = await list({ size: 100, after: seen.at(-1) });
          expect(page.hasPrevious).toBe(true);
        }
        expect(seen).toEqual(all.slice(0, seen.length));
        expect(seen.length).toBeGreaterThan(100);
        const back = await list({ size: 100, before: seen[100] });
        expect(back.items.map(({ id: each }) => each)).toEqual(firstIds);
        expect([back.hasNext, back.hasPrevious]).toEqual([true, false]);
      });

      it.each(['a', 'ab', '%%%', 'a-b'])('is refused for “%s”, which no index finds', async (q) => {
        const answer = await service.http.get(`/admin/users?q=${encodeURIComponent(q)}`, {
          bearer: await service.make.adminToken(),
        });
        expect([answer.status, answer.text]).toEqual([
          400,
          expect.stringContaining('with at least 3 letters or digits'),
        ]);
      });
    });

    describe('of endpoints', () => {
      it.each(['https', 'c4ca42', '.example/hooks', 'partner.example', 'zzz'])(
        'with “%s” in their URL reads what it shows',
        async (url) => {
          const list = () => service.app.get(EndpointsRepository).list({ url }, PAGE);
          expect(await rowsReadBy(list)).toBeLessThan(READ_AT_MOST * 10);
        },
      );
    });
  });
}

/** The plans, as executed again, of the statements of some work that match. */
export async function plansOf(
  dataSource: DataSource,
  matches: RegExp,
  work: () => Promise<unknown>,
): Promise<Plan[]> {
  const sent = jest.spyOn(Client.prototype, 'query');
  let statements: [string, unknown[]][];
  try {
    await work();
    statements = (sent.mock.calls as unknown[][]).flatMap(([text, parameters]): [string, unknown[]][] =>
      typeof text === 'string' && matches.test(text)
        ? [[text, Array.isArray(parameters) ? (parameters as unknown[]) : []]]
        : [],
    );
  } finally {
    sent.mockRestore();
  }
  expect(statements.length).toBeGreaterThan(0);
  const plans: Plan[] = [];
  for (const [text, parameters] of statements) {
    const [
      {
        'QUERY PLAN': [plan],
      },
    ] = (await dataSource.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, parameters)) as [
      { 'QUERY PLAN': [{ Plan: Plan }] },
    ];
    plans.push(plan.Plan);
  }
  return plans;
}

/** How many pages a plan reads. */
export const pagesOf = (plan: Plan): number => plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];

/** How often a plan looks something up in a table. */
export const looksAt = (table: string, plan: Plan): number =>
  (plan['Relation Name'] === table ? plan['Actual Loops'] : 0) +
  (plan.Plans ?? []).reduce((sum, each) => sum + looksAt(table, each), 0);

/** How many rows a plan looks at. */
export const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] +
    (plan['Rows Removed by Filter'] ?? 0) +
    (plan['Rows Removed by Index Recheck'] ?? 0)) *
    plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
