import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { demoBanner, demoText } from '../../demo/demo-banner.js';
import { loadDemoCredentials, type DemoCredentials } from '../../demo/demo-credentials.js';
import { seedDemonstration } from '../../demo/demo-data.js';
import type { Settings } from '#platform/config/settings.js';
import { authorizePath, BrowserSession, newPkce, useService } from '../support/spec.js';

describe('The demonstration', () => {
  const service = useService();
  let folder: string;
  let demo: DemoCredentials;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'demo-data-'));
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
    for (const { kind, detail, all, clients } of rows)
      expect([kind, detail, all]).toEqual([kind, detail, clients]);
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

  it('has an operator of each role, whose printed credentials log in', async () => {
    const banner = demoBanner(service.settings, demo);
    const rows = banner.split('\n').map((line) => Math.max(1, Math.ceil(line.length / 80)));
    expect(rows.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(23);
    for (const [role, { email, password }] of Object.entries({
      admin: demo.operator,
      support: demo.supportOperator,
      viewer: demo.viewerOperator,
    })) {
      expect(banner).toContain(`${email}   ${password}   (${role})`);
      const browser = new BrowserSession(service.url);
      await browser.logIn(email, password);
      const page = await browser.open('/admin/console');
      expect([page.status, page.html.querySelector('.visitor')!.text]).toEqual([
        200,
        expect.stringContaining(`(${role})`),
      ]);
    }
  });

  it('has a client in the sandbox, whose printed commands work', async () => {
    const text = demoText(service.settings, demo);
    expect(text).toContain(demo.sandboxClient.secret);
    const { json } = await service.http.token({ grant_type: 'client_credentials' }, demo.sandboxClient);
    const bearer = json.access_token as string;
    const drivers = await service.http.get('/v2/sandbox/drivers', { bearer });
    expect(drivers.json).toMatchObject([{ id: demo.sandboxDriver.id, consented: true, seed: 4711 }]);
    const path = `/v2/sandbox/drivers/${demo.sandboxDriver.id}/sessions`;
    expect(text).toContain(path);
    expect((await service.http.send(path, { bearer, json: { speed: 60 } })).status).toBe(202);
  });

  it('shows the client in the sandbox first, which is the one that the guides begin with', () => {
    const { sandboxClient: sandbox, partnerClient: live } = demo;
    const banner = demoBanner(service.settings, demo);
    expect(banner).toContain(`  client_secret  ${sandbox.secret}\n`);
    expect(banner).toContain(`-u '${sandbox.id}:${sandbox.secret}' -d grant_type=client_credentials`);
    expect(banner).not.toContain(live.secret);
    const text = demoText(service.settings, demo);
    expect(text.indexOf(sandbox.secret)).toBeLessThan(text.indexOf(live.secret));
    const [first] = text.split('\n').filter((line) => line.startsWith('curl '));
    expect(first).toContain(`${sandbox.id}:${sandbox.secret}`);
  });

  it('says what the commands for the company file need, as in its guide', async () => {
    const password = 'a_password-of-its-own';
    const databaseUrl = `postgres://postgres:${password}@127.0.0.1:54321/charging_data`;
    await writeFile(path.join(folder, 'postgres-password'), `${password}\n`);
    const text = demoText({ ...service.settings, dataDir: folder, databaseUrl } as Settings, demo);
    const lines = text.split('\n');
    const set = lines.find((line) => line.startsWith('export DATABASE_URL='))!;
    const shown = await promisify(execFile)('sh', [
      '-c',
      `${set}\necho "$DATABASE_URL $ENCRYPTION_KEY_FILE"`,
    ]);
    expect(shown.stdout.trim()).toBe(`${databaseUrl} ${path.join(folder, 'encryption-key')}`);
    expect(text).not.toContain(password);
    const commands = lines.filter((line) => line.startsWith('npm run -s operator'));
    expect(commands.length).toBeGreaterThan(1);
    const guide = await readFile('docs/company-file.md', 'utf8');
    for (const command of commands) expect(guide).toContain(command);
  });

  it('keeps the credentials of an earlier start, and adds those that it did not have', async () => {
    const file = path.join(folder, 'demo-credentials.json');
    const { organisation, driver, operator } = await loadDemoCredentials(folder);
    const earlier = { organisation, driver, operator };
    await writeFile(file, JSON.stringify(earlier));
    const now = await loadDemoCredentials(folder);
    expect(now).toMatchObject(earlier);
    expect(now.viewerOperator.email).toBe('viewer@demo.example');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(now);
  });
});
