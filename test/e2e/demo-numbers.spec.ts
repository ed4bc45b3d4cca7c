import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { loadDemoCredentials, type DemoCredentials } from '../../demo/demo-credentials.js';
import { seedDemonstration } from '../../demo/demo-data.js';
import { BrowserSession, authorizePath } from '../support/browser-session.js';
import { newPkce } from '../support/factory.js';
import { useService } from '../support/test-service.js';

describe('The demonstration', () => {
  const service = useService();
  let folder: string;
  let demo: DemoCredentials;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'demo-numbers-'));
    demo = await loadDemoCredentials(folder);
    await seedDemonstration(service.app.get(DataSource), demo, service.settings);
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  it('counts in total what it counts for its clients', async () => {
    const rows = await service.database.query<{ kind: string; detail: string; all: number; clients: number }>(
      `SELECT kind, detail, sum(count) FILTER (WHERE client_id = 'all')::int AS all,
              sum(count) FILTER (WHERE client_id <> 'all')::int AS clients
         FROM activity_hours WHERE kind NOT LIKE 'sign_in%' GROUP BY 1, 2 ORDER BY 1, 2`,
    );
    expect(rows.length).toBeGreaterThan(4);
    for (const { kind, detail, all, clients } of rows) {
      expect([kind, detail, all]).toEqual([kind, detail, clients]);
    }
  });

  it('has the last requests of what it counts, and counts no request that is not logged', async () => {
    const id = demo.partnerClient.id;
    const [log] = await service.database.query<{ logged: number; counted: number }>(
      `SELECT (SELECT count(*)::int FROM client_requests WHERE client_id = $1) AS logged,
              (SELECT sum(count)::int FROM activity_hours WHERE client_id = $1 AND kind = 'request') AS counted`,
      [id],
    );
    expect(log!.logged).toBe(200);
    expect(log!.counted).toBeGreaterThan(200);
    // Of every hour that the log has as a whole.
    const hours = await service.database.query<Record<string, number>>(
      `WITH whole AS (
         SELECT generate_series(date_trunc('hour', min(occurred_at)) + interval '1 hour', date_trunc('hour', max(occurred_at)),
                                interval '1 hour') AS hour
           FROM client_requests WHERE client_id = $1
       )
       SELECT r.*, a.* FROM whole
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE route LIKE '/o/%')::int AS oauth, count(*) FILTER (WHERE route NOT LIKE '/o/%')::int AS api,
                 count(*) FILTER (WHERE route = '/o/token' AND status = 200)::int AS tokens,
                 count(*) FILTER (WHERE status = 401)::int AS unauthorized,
                 count(*) FILTER (WHERE status = 400)::int AS invalid
            FROM client_requests WHERE client_id = $1 AND occurred_at >= hour AND occurred_at < hour + interval '1 hour') r
        CROSS JOIN LATERAL (
          SELECT coalesce(sum(count) FILTER (WHERE kind = 'request' AND detail = 'oauth'), 0)::int AS "countedOauth",
                 coalesce(sum(count) FILTER (WHERE kind = 'request' AND detail = 'api'), 0)::int AS "countedApi",
                 coalesce(sum(count) FILTER (WHERE kind = 'token_issued'), 0)::int AS "countedTokens",
                 coalesce(sum(count) FILTER (WHERE kind = 'bearer_refused'), 0)::int AS "countedUnauthorized",
                 coalesce(sum(count) FILTER (WHERE kind = 'token_refused' AND detail <> 'wrong_secret'), 0)::int AS "countedInvalid"
            FROM activity_hours a WHERE client_id = $1 AND a.hour = whole.hour) a`,
      [id],
    );
    expect(hours.length).toBeGreaterThan(1);
    for (const hour of hours) {
      expect([hour.countedOauth, hour.countedApi]).toEqual([hour.oauth, hour.api]);
      expect([hour.countedTokens, hour.countedUnauthorized, hour.countedInvalid]).toEqual([
        hour.tokens,
        hour.unauthorized,
        hour.invalid,
      ]);
    }
  });

  it('shows nothing of the future, and no more tokens in a day than its drivers need', async () => {
    const [row] = await service.database.query<{ late: number; day: number }>(
      `SELECT (SELECT count(*)::int FROM client_requests WHERE occurred_at > now())
              + (SELECT count(*)::int FROM activity_hours WHERE last_at > now()) AS late,
              (SELECT sum(count)::int FROM activity_hours
                WHERE client_id = 'all' AND kind = 'token_issued' AND hour > now() - interval '24 hours') AS day`,
    );
    expect(row!.late).toBe(0);
    expect(row!.day).toBeLessThan(300);
  });

  it('registers the redirect URI of “Authorize” in the API reference for its clients', async () => {
    for (const [{ id }, status] of [
      [demo.partnerClient, 302],
      [demo.appClient, 302],
      [demo.sandboxClient, 200],
    ] as const) {
      const page = await new BrowserSession(service.url).open(
        authorizePath({
          response_type: 'code',
          client_id: id,
          redirect_uri: `${service.url}/docs`,
          code_challenge: newPkce().challenge,
          code_challenge_method: 'S256',
        }),
      );
      expect([id, page.status]).toEqual([id, status]);
      if (status === 302) expect(page.headers.get('location')).toMatch(/^\/login\?/);
    }
  });
});
