import { DataSource } from 'typeorm';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { RecoveriesRepository } from '#events/webhooks/deliveries/recoveries.repository.js';
import { RecoveriesService } from '#events/webhooks/deliveries/recoveries.service.js';
import { looksAt, plansOf, rowsOf, type Plan } from '../support/list-plans.js';
import { madeOnce } from '../support/made.js';
import { connectionTo } from '../support/test-database.js';
import { useService } from '../support/test-service.js';
import { TYPE } from '../support/webhooks.js';

const USERS = 20_000;
const EVENT_EVERY_SECONDS = 30;
/** More than one statement sends. */
const MANY = 5_100;
const FIRST_EVENT = Date.parse('2026-01-01T00:00:00Z');
const READ_AT_MOST = 1_000;

/** Of a client with many users, each of whom has an event, one after the other over a week. */
describe('A recovery', () => {
  const service = useService({ env: { ROLE: 'api' } });
  const client = madeOnce(() => service.make.client());
  const query = <T>(sql: string, parameters?: unknown[]) => service.database.query<T>(sql, parameters);
  const recoveries = () => service.app.get(RecoveriesService);
  let endpoints = 0;

  beforeAll(async () => {
    const { query: run } = service.database;
    await run(`
      SET session_replication_role = replica;
      INSERT INTO users (id, email, email_key, name, kind, role)
      SELECT 'user' || lpad(n::text, 26, '0'), n || '@mail.example', n || '@mail.example', 'Driver', 'individual', 'user'
        FROM generate_series(1, ${USERS}) n;
      INSERT INTO consents (client_id, user_id, scopes, granted_at)
      SELECT '${client.id}', 'user' || lpad(n::text, 26, '0'), '{charging_session:read}', '2025-01-01'
        FROM generate_series(1, ${USERS}) n;
      INSERT INTO events (id, type, user_id, payload, deliveries, created_at)
      SELECT 'evnt' || lpad(n::text, 26, '0'), '${TYPE}', 'user' || lpad((n * 7919 % ${USERS} + 1)::text, 26, '0'), '{}', 0,
             to_timestamp(${FIRST_EVENT / 1000} + n * ${EVENT_EVERY_SECONDS})
        FROM generate_series(1, ${USERS}) n;
      RESET session_replication_role;
      ANALYZE;
    `);
  });

  const makeEndpoint = async (): Promise<string> => {
    const id = `endp${String(++endpoints).padStart(26, '0')}`;
    await query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret, created_at)
       VALUES ($1, $2, 'https://partner.example/', ARRAY[$3], '', '2025-01-01')`,
      [id, client.id, TYPE],
    );
    return id;
  };
  /** As if the endpoint had been disabled while so many events were published, from the thousandth on. */
  const pauseFor = async (endpointId: string, events: number) => {
    const at = (event: number) => new Date(FIRST_EVENT + event * EVENT_EVERY_SECONDS * 1000);
    const [from, to] = [at(1_000), at(1_000 + events)];
    await query('INSERT INTO webhook_pauses (endpoint_id, disabled_at, enabled_at) VALUES ($1, $2, $3)', [
      endpointId,
      from,
      to,
    ]);
    return { from, to };
  };
  /** Events of a minute before and after it belong to a pause. */
  const AROUND = 4;
  const sentBy = async (recoveryId: string) => {
    const [sent] = await query<{ deliveries: number; events: number; times: number }>(
      `SELECT count(*)::int AS deliveries, count(DISTINCT event_id)::int AS events, count(DISTINCT next_attempt_at)::int AS times
         FROM deliveries WHERE recovery_id = $1 AND state = 'pending'`,
      [recoveryId],
    );
    return sent!;
  };

  describe('of what was missed', () => {
    it('reads the events of the pause, and not those of all users', async () => {
      const endpointId = await makeEndpoint();
      const range = await pauseFor(endpointId, 20);
      const plans: Plan[] = [];
      const dataSource = service.app.get(DataSource);
      await dataSource.transaction(async () => {
        const repository = service.app.get(RecoveriesRepository);
        await repository.closePauses(endpointId);
        const ask = dataSource.query.bind(dataSource);
        const explaining = jest.spyOn(dataSource, 'query').mockImplementation(async (sql, ...rest) => {
          // The service asks for other things meanwhile.
          if (!sql.includes('INSERT INTO deliveries')) return ask(sql, ...rest);
          const [{ 'QUERY PLAN': plan }] = await ask<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
            `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
            ...rest,
          );
          plans.push(plan[0].Plan);
          return [{ count: 0 }];
        });
        const missed = { recoveryId: 'rcvr', endpointId, clientId: client.id, ...range };
        await repository.sendMissed(missed, { sent: 0, limit: 5_000 });
        await repository.sendMissedOfClient(missed, { sent: 0, limit: 5_000 });
        explaining.mockRestore();
      });
      expect(plans.map(rowsOf).map((rows) => rows < READ_AT_MOST)).toEqual([true, true]);
    });

    it('sends each event once and in their order, also more than one statement sends', async () => {
      const endpointId = await makeEndpoint();
      await pauseFor(endpointId, MANY);
      const id = await recoveries().sendMissed(client.id, endpointId, SERVICE_ACTOR);
      const sent = MANY + AROUND;
      expect(await recoveries().recovery(id, client.id)).toMatchObject({ total: sent, pending: sent });
      expect(await sentBy(id)).toEqual({ deliveries: sent, events: sent, times: sent });
      const [{ isOrdered }] = (await query(
        `SELECT bool_and(ordered) AS "isOrdered" FROM (
           SELECT event_id > lag(event_id, 1, '') OVER (ORDER BY next_attempt_at) AS ordered FROM deliveries WHERE recovery_id = $1) d`,
        [id],
      )) as [{ isOrdered: boolean }];
      expect(isOrdered).toBe(true);
    });

    it('does not wait for results that are written for the endpoint, nor do those wait for it', async () => {
      const endpointId = await makeEndpoint();
      await pauseFor(endpointId, 20);
      const writing = await connectionTo(service);
      await writing.query('BEGIN');
      await writing.query('SELECT 1 FROM webhook_endpoints WHERE id = $1 FOR NO KEY UPDATE', [endpointId]);
      const id = await recoveries().sendMissed(client.id, endpointId, SERVICE_ACTOR);
      await writing.query('COMMIT');
      expect(await sentBy(id)).toMatchObject({ deliveries: 20 + AROUND });
    });
  });

  describe('of deliveries', () => {
    /** Failed ones, so many. */
    const fail = async (endpointId: string) => {
      await query(
        `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, next_attempt_at, finished_at)
         SELECT new_delivery_id(), 'evnt' || lpad(n::text, 26, '0'), $3, $1, $2, 'failed', NULL, now()
           FROM generate_series(1, ${MANY}) n`,
        [endpointId, client.id, TYPE],
      );
      await query('ANALYZE deliveries');
    };
    const range = { from: new Date(0), to: new Date(Date.now() + 3_600_000) };

    it('resends all that failed, each once, also more than one statement resends', async () => {
      const endpointId = await makeEndpoint();
      await fail(endpointId);
      const id = await recoveries().recover(client.id, { endpointId, ...range }, SERVICE_ACTOR);
      expect(await recoveries().recovery(id, client.id)).toMatchObject({ total: MANY, pending: MANY });
      expect(await sentBy(id)).toMatchObject({ deliveries: MANY, events: MANY });
    });

    it('resends all that match, in any state, each once', async () => {
      const endpointId = await makeEndpoint();
      await fail(endpointId);
      const id = await recoveries().resendMatching(client.id, { endpointId }, range.to, SERVICE_ACTOR);
      expect(await recoveries().recovery(id, client.id)).toMatchObject({ total: MANY, pending: MANY });
    });

    it('counts and resends of a disabled endpoint only its tests, and looks at no event of those that are none', async () => {
      const endpointId = await makeEndpoint();
      await fail(endpointId);
      const tests = [`evnt${'9'.padStart(26, '9')}`, `evnt${'8'.padStart(26, '9')}`];
      for (const id of tests) {
        await query(
          `INSERT INTO events (id, type, client_id, payload, deliveries, test) VALUES ($1, $2, $3, '{}', 1, true)`,
          [id, TYPE, client.id],
        );
        await query(
          `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, next_attempt_at, finished_at)
           VALUES (new_delivery_id(), $1, $2, $3, $4, 'failed', NULL, now())`,
          [id, TYPE, endpointId, client.id],
        );
      }
      await query('UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1', [
        endpointId,
      ]);
      await query('ANALYZE events');
      let count = 0;
      const plans = await plansOf(service.app.get(DataSource), /^SELECT count\(\*\)/, async () => {
        count = await recoveries().countMatching(client.id, { endpointId });
      });
      expect(count).toBe(tests.length);
      expect(plans.map((plan) => looksAt('events', plan))).toEqual([1]);
      const id = await recoveries().resendMatching(client.id, { endpointId }, range.to, SERVICE_ACTOR);
      expect(await recoveries().recovery(id, client.id)).toMatchObject({ total: tests.length });
    });
  });
});
