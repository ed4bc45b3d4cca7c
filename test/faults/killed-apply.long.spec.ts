import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse, stringify } from 'yaml';
import { apply as applyFile, printCompany } from '#features/company-file/company-file.actions.js';
import type { Printed } from '#entrypoints/cli/output.js';
import { startService, TEST_ENCRYPTION_KEY, type TestService, until } from '../support/spec.js';

const HOOK = pathToFileURL('test/support/killed-at-statement.mjs').href;
const SECRET = 'a-secret-that-the-company-has-chosen-itself';
// Each is a process of its own.
const ROUNDS = process.env.NIGHTLY ? 1_000 : 6;

const PARTNER = { type: 'confidential', grant_types: ['authorization_code', 'refresh_token'] };
const CLIENTS = Array.from({ length: 3 }, (_, n) => ({
  client_id: `clnt01HN2NJ9NMRZBXT1H6FT9N000${n}`,
  name: `Planner ${n}`,
  owner: `p${n}@planner.example`,
  ...PARTNER,
  scopes: ['vehicle:read', 'tariff:read'],
  purposes: ['route_planning'],
  redirect_uris: [`https://p${n}.planner.example/callback`],
  secret: { generate: `p${n}.secret` },
}));
const COMPANY = {
  brand: { name: 'Example Charging', accent_color: '#006b57' },
  scopes: { 'tariff:read': { description: 'See your tariff and its prices', audience: 'partner' } },
  purposes: { route_planning: { words: { en: 'To plan routes', de: 'Um Routen zu planen' } } },
  event_types: {
    'tariff.changed': {
      description: 'The tariff has changed',
      scope: 'tariff:read',
      sample: { tariff_id: 'T-1' },
      resource: '/tariff_id',
      versions: [{ schema: { type: 'object', required: ['tariff_id'] } }],
    },
  },
  owners: Object.fromEntries(
    [...CLIENTS.map(({ owner }) => owner), 'services@charging.example'].map((email) => [
      email,
      { name: email, kind: 'organisation' },
    ]),
  ),
  clients: [
    ...CLIENTS,
    {
      client_id: 'clnt01HN2NJ9NMRZBXT1H6FT9N0009',
      name: 'Invoices',
      owner: 'services@charging.example',
      type: 'confidential',
      grant_types: ['client_credentials'],
      scopes: ['event:publish', 'tariff:read'],
      company_service: true,
      secret: { env: 'INVOICES_SECRET' },
      consents: ['ada', 'ben'].map((name) => ({
        user: `${name}@driver.example`,
        scopes: ['tariff:read'],
        granted_at: '2026-01-31T08:00:00Z',
        evidence: 'Contract 4711',
      })),
    },
  ],
};

/** What an apply leaves behind. */
interface Outcome {
  company: string;
  events: unknown;
  secrets: unknown;
}

describe('A company file that is applied by a process that is killed', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
    for (const name of ['ada', 'ben']) await service.make.user({ email: `${name}@driver.example` });
  });
  afterAll(() => service.stop());

  const folderWith = (company: object): string => {
    const folder = mkdtempSync(path.join(tmpdir(), 'killed-apply-'));
    writeFileSync(path.join(folder, 'company.yaml'), stringify(company));
    return folder;
  };
  /** In a process of its own, which may be killed: the signal that ended it, and what it said. */
  const applyApart = (folder: string, env: Record<string, string>) =>
    new Promise<{ signal?: string | null; err: string }>((resolve) => {
      const environment = {
        PATH: process.env.PATH,
        BASE_URL: service.url,
        DATABASE_URL: service.database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        INVOICES_SECRET: SECRET,
        ...env,
      };
      const args = [
        '--import',
        HOOK,
        'dist/src/operator.js',
        'apply',
        '-f',
        path.join(folder, 'company.yaml'),
      ];
      execFile(process.execPath, args, { env: environment }, (error, _out, err) =>
        resolve({ signal: error?.signal, err }),
      );
    });
  const apply = async (folder: string, options: Record<string, string[]> = {}): Promise<string> => {
    const asked = { file: [path.join(folder, 'company.yaml')], ...options };
    return ((await applyFile(service.app, '', asked, { INVOICES_SECRET: SECRET })) as Printed).text;
  };
  const exported = async () => ((await printCompany(service.app, '', {}, {})) as Printed).text;

  const lastEvent = async () =>
    (await service.database.query<{ id: string }>('SELECT max(id) AS id FROM audit_events'))[0]!.id;
  const outcome = async (since: string): Promise<Outcome> => ({
    company: await exported(),
    events: await service.database.query(
      // Owners have a new id each time.
      `SELECT action, actor_type, CASE WHEN subject_type = 'user' THEN after->>'email' ELSE subject_id END AS subject, count(*)::int AS n
         FROM audit_events WHERE id > $1 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
      [since],
    ),
    secrets: await service.database.query(
      'SELECT client_id, count(*)::int AS n, max(expires_at) AS ends FROM client_secrets GROUP BY 1 ORDER BY 1',
    ),
  });
  /** Removes what a file has made. */
  const takeBack = async (original: string): Promise<void> => {
    await apply(folderWith(parse(original) as object), { prune: [] });
    await service.database.query("DELETE FROM users WHERE kind = 'organisation'");
  };
  const secretFiles = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.includes('.secret'))
      .sort();

  it('has, applied again, the same result as one that was not disturbed, wherever it was killed', async () => {
    const original = await exported();
    const undisturbed = folderWith(COMPANY);
    const counted = path.join(undisturbed, 'counted');
    const since = await lastEvent();
    expect(await applyApart(undisturbed, { COUNTED: counted })).toEqual({ err: '' });
    const expected = await outcome(since);
    expect(expected.company).toContain('Invoices');
    await takeBack(original);
    const statements = Number(readFileSync(counted, 'utf8'));
    const step = Math.max(1, Math.floor(statements / ROUNDS));
    const kills: Record<string, string>[] = [{ KILL_AFTER: 'COMMIT' }];
    for (let n = 1; n <= statements; n += step) kills.push({ KILL_BEFORE: String(n) });

    for (const kill of kills) {
      const folder = folderWith(COMPANY);
      const from = await lastEvent();
      expect([kill, (await applyApart(folder, kill)).signal]).toEqual([kill, 'SIGKILL']);
      // Whatever secret was written to a file is the one that counts.
      const before = secretFiles(folder).map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]);
      // The server may take a moment to end the transaction of the killed process.
      await until('nobody else applies a file', async () => {
        const [lock] = await service.database.query<{ held: boolean }>(
          "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1702260343) AS held",
        );
        return !lock!.held;
      });
      await apply(folder);
      expect([kill, await outcome(from)]).toEqual([kill, expected]);
      for (const [name, text] of before) expect(readFileSync(path.join(folder, name!), 'utf8')).toBe(text);
      expect(await apply(folder)).toBe('Nothing changed.\n');
      expect(secretFiles(folder)).toEqual(['p0.secret', 'p1.secret', 'p2.secret']);
      await expectSecretsToCount(folder);
      await takeBack(original);
    }
  });

  /** The generated secrets are the ones of the clients. */
  const expectSecretsToCount = async (folder: string): Promise<void> => {
    for (const [n, { client_id: id }] of CLIENTS.entries()) {
      expect(existsSync(path.join(folder, `p${n}.secret`))).toBe(true);
      const secret = readFileSync(path.join(folder, `p${n}.secret`), 'utf8').trim();
      const { json } = await service.http.token({ grant_type: 'client_credentials' }, { id, secret });
      expect(json.error).toBe('unauthorized_client');
    }
  };
});
