import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse, stringify } from 'yaml';
import { apply as applyFile, printCompany } from '#features/company-file/company-file.actions.js';
import type { Printed } from '#entrypoints/cli/output.js';
import { withoutDefaults } from '#features/company-file/company-defaults.js';
import type { Company } from '#features/company-file/company-sections.js';
import { CompanyDocument } from '#features/company-file/read-company.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { Problem } from '#platform/http/problems/problem.js';
import { OPERATOR_SCOPES } from '#access/scopes/scope.entity.js';
import { ScopeNumbersService } from '#access/scopes/scope-numbers.service.js';
import { newId } from '#platform/secrets/ids.js';
import { whileHeld } from '../support/held-rows.js';
import { statementsDuring } from '../support/statements.js';
import { until, useService } from '../support/spec.js';
import { listOf } from '../support/list-of.js';

/** The example of docs/company-file.md, word for word. */
const EXAMPLE = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/company-file.md', 'utf8'))![1]!;
const SECRET = 'a-secret-that-the-company-has-chosen-itself';
const OWN_SECRET = `${SECRET}-and-changed`;

describe('A company file', () => {
  const service = useService();
  const folder = mkdtempSync(path.join(tmpdir(), 'company-'));
  const file = path.join(folder, 'company.yaml');

  type Flags = { 'dry-run'?: true; prune?: true; secret?: string; as?: string };
  const apply = async (content: string | object, { secret = SECRET, as, ...flags }: Flags = {}) => {
    writeFileSync(file, typeof content === 'string' ? content : stringify(content));
    const options = {
      file: [file],
      ...(as !== undefined && { as: [as] }),
      ...(flags as Record<string, never>),
    };
    return (await applyFile(service.app, '', options, { INVOICES_SECRET: secret })) as Printed;
  };
  /** What a refusal says, line by line, without the path of the file. */
  const refusal = async (content: string | object, flags?: Flags): Promise<string[]> => {
    const error = await apply(content, flags).then(
      ({ text }) => new Error(`applied: ${text}`),
      (problem: unknown) => problem,
    );
    if (!(error instanceof Problem)) throw error as Error;
    return error.detail.split('\n').map((line) => line.replace(`${file}:`, ''));
  };
  const exportedText = async (): Promise<string> =>
    ((await printCompany(service.app, '', {}, {})) as Printed).text;
  const exported = async (): Promise<Company> => {
    const { has_end, end, ...company } = parse(await exportedText()) as Company & Record<string, unknown>;
    expect([has_end, end]).toEqual([true, true]);
    return company;
  };
  const example = (): Required<Company> => withoutDefaults(parse(EXAMPLE) as Company) as Required<Company>;
  const events = (since: string) =>
    service.database.query<{ action: string }>(
      "SELECT action, actor_type FROM audit_events WHERE id > $1 AND subject_type <> 'session' ORDER BY id",
      [since],
    );
  const actors = (since: string) =>
    service.database.column<string | null>('SELECT DISTINCT actor_id FROM audit_events WHERE id > $1', [
      since,
    ]);
  const lastEvent = async () =>
    (await service.database.query<{ id: string }>('SELECT max(id) AS id FROM audit_events'))[0]!.id ?? '';
  const token = (id: string, secret: string) =>
    service.http.token({ grant_type: 'client_credentials' }, { id, secret });

  beforeAll(async () => await service.make.user({ email: 'driver@demo.example' }));

  describe('is refused, and changes nothing,', () => {
    it('in the name of someone who is no enabled admin', async () => {
      // There is always an enabled admin.
      await service.make.user({ role: 'operator' });
      const [driver, support, former] = await Promise.all([
        service.make.user(),
        service.make.user({ role: 'operator', operatorRole: 'support' }),
        service.make.user({ role: 'operator' }),
      ]);
      await service.make.updateUser(former, { enabled: false });
      for (const as of [driver.email, support.email, former.email, 'nobody@mail.example', '']) {
        expect(await refusal(EXAMPLE, { as })).toEqual([
          `--as names an enabled admin by email address, and ${as} is none.`,
        ]);
      }
    });

    it('if it is not YAML, or not a company', async () => {
      expect(await refusal('scopes: [')).toEqual([
        expect.stringContaining('was refused; nothing was changed.'),
        expect.stringMatching(/^1: Flow sequence/),
      ]);
      expect(await refusal('')).toEqual([expect.stringContaining('at least one section')]);
      expect(await refusal('scopes: {}\nscopes: {}')).toEqual([
        expect.anything(),
        expect.stringMatching(/^2: Map keys must be unique/),
      ]);
      expect(await refusal('event_types: { a: { sample: { n: .nan } } }')).toEqual([
        expect.stringContaining('must be a finite number'),
      ]);
      expect(
        (
          await refusal(`a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\nc: [${'*b,'.repeat(50)}]`)
        )[0],
      ).toContain('alias');
    });

    it('if it is an export of which the end is missing, wherever it was cut off', async () => {
      const text = await exportedText();
      const whole = text.trimEnd().length;
      const refused = async (length: number): Promise<string> =>
        new CompanyDocument('cut.yaml', text.slice(0, length)).read().then(
          () => `${length} of ${text.length} characters: accepted`,
          (problem: Problem) => problem.detail,
        );
      const firstLine = text.indexOf('\n');
      // Each line's end, where what is left is YAML, and the characters of the first and the last line.
      const ends = [...text.matchAll(/\n/g)].map(({ index }) => index).filter((end) => end < whole);
      const lengths = new Set([...ends, ...Array.from({ length: 12 }, (_, n) => whole - 1 - n)]);
      for (const length of lengths) {
        expect(await refused(length)).toBe(
          'cut.yaml was refused; nothing was changed.\nIt has "has_end: true", as every export, but not its last line, "end: true": it was cut off. Export it again.',
        );
      }
      for (let length = 0; length < firstLine; length++)
        expect(await refused(length)).toMatch(/at least one section|was cut off/);
      expect(await refused(whole)).toContain('accepted');
    });

    it('if it has another beginning or end than an export', async () => {
      expect(await refusal('has_end: 1\npurposes: {}\nend: true')).toEqual([
        expect.anything(),
        '1: has_end: must be true, or be left out',
      ]);
      expect(await refusal('purposes: {}\nend: 1')).toEqual([
        expect.anything(),
        '2: end: must be true, or be left out',
      ]);
    });

    it('by the rules of the admin API, with everything that is wrong and its line', async () => {
      const wrong = `
scopes:
  Vehicle:
    description: x
    audience: partner
  a:
    description: ""
    audience: nobody
    note: x
    meaning_changed: true
purposes:
  p:
    words: {}
extra: 1
owners:
  nobody:
    name: N
  a@b.example:
    name: A
    role: operator
clients:
  - name: C
    owner: a@b.example
    type: confidential
    grant_types: [password]
    scopes: []
    secret: { env: 5 }
    client_secret: cds_cs_x
  - 7
event_types:
  batch: {}
`;
      expect((await refusal(wrong)).slice(1)).toEqual([
        expect.stringMatching(/^3: scopes.Vehicle: the name must be 1 to 64 of/),
        expect.stringMatching(/^9: scopes.a.note: is not a known member/),
        expect.stringMatching(/^10: scopes.a.meaning_changed: is not a known member/),
        expect.stringMatching(/^7: scopes.a.description: must be a string of 1 to 300/),
        expect.stringMatching(/^8: scopes.a.audience: must be one of/),
        '14: extra: is not a known member',
        expect.stringMatching(/^16: owners.nobody: must be a valid email/),
        '20: owners.a@b.example.role: is not a known member',
        expect.stringMatching(/^27: clients\[0\].secret.env: must be a string/),
        '28: clients[0].client_secret: is not a known member',
        expect.stringMatching(/^25: clients\[0\].grant_types: must be a list/),
        expect.stringMatching(/^26: clients\[0\].scopes: must be a list/),
        '29: clients[1]: must have members',
        '31: event_types.batch: the name must not be batch, which the service uses itself',
        expect.stringMatching(/^31: event_types.batch.description: /),
        expect.stringMatching(/^31: event_types.batch.scope: /),
        expect.stringMatching(/^31: event_types.batch.sample: /),
      ]);
    });

    it('by the rules between things, all at once', async () => {
      const company = example();
      const [planner, invoices] = company.clients;
      const before = await exported();
      const lines = await refusal({
        purposes: { p: { words: { de: 'Nur Deutsch' } } },
        event_types: {
          'a.b': { ...company.event_types['tariff.changed'], scope: 'event:publish' },
          'webhook.test': { ...company.event_types['tariff.changed'], scope: 'vehicle:read' },
          'c.d': {
            description: 'x',
            scope: 'vehicle:read',
            sample: {},
            versions: [{ schema: { type: 'object' }, draft: true }, { schema: { type: 7 } }],
          },
        },
        owners: company.owners,
        clients: [
          {
            ...planner,
            scopes: ['vehicle:read', 'no:such'],
            purposes: [],
            optional_scopes: [],
            redirect_uris: [],
          },
          { ...planner, client_id: undefined, owner: 'nobody@planner.example' },
          { ...invoices, company_service: false, scopes: ['event:publish'], secret: { env: 'A', file: 'b' } },
          planner,
        ],
      });
      expect(lines.slice(1)).toEqual([
        '66: clients[1].owner: is neither an owner in the file nor a user',
        '99: clients[3]: is in the file twice',
        expect.stringMatching(/purposes.p.words.en: must be a string/),
        expect.stringMatching(/event_types.a.b.scope: must be a scope for partners/),
        expect.stringMatching(/event_types.webhook.test: The service publishes this event type itself/),
        expect.stringMatching(/event_types.c.d.versions\[1\].schema: is not a JSON Schema/),
        expect.stringMatching(/clients\[0\].redirect_uris: must contain at least one URI/),
        expect.stringMatching(/clients\[0\].scopes: scope 2 is not in the catalogue/),
        expect.stringMatching(/clients\[2\].company_service: must be true/),
      ]);
      expect(await exported()).toEqual(before);
    });

    it('if a secret is not there, too short, or in two places', async () => {
      const company = example();
      const [planner, invoices] = company.clients;
      const base = { ...company, clients: undefined };
      const secretRefusal = async (secret: object) =>
        (await refusal({ ...base, clients: [{ ...invoices, consents: [], secret }] })).at(-1);
      expect(await secretRefusal({ env: 'NO_SUCH' })).toContain('secret: NO_SUCH is not there');
      expect(await secretRefusal({ file: 'no-such' })).toContain('secret: no-such is not there');
      expect(await secretRefusal({})).toContain('must have one of env, file and generate');
      expect(await secretRefusal({ env: 'A', file: 'b' })).toContain('must have one of');
      expect(await secretRefusal({ generate: 'no/such/folder' })).toContain('cannot be written');
      const short = await refusal(EXAMPLE, { secret: 'too-short' });
      expect(short.at(-1)).toContain('INVOICES_SECRET must have a secret of 32 to 200');
      expect(short.join()).not.toContain('too-short');
      const app = { ...planner, type: 'public', grant_types: ['authorization_code'] };
      expect((await refusal({ ...base, clients: [app] })).at(-1)).toContain('a public client has no secret');
      const rest = { ...planner, secret: undefined, consents: invoices!.consents };
      expect((await refusal({ ...base, clients: [rest] })).at(-1)).toContain(
        'only for a service of the company',
      );
    });
  });

  describe('once applied,', () => {
    let since: string;
    let dryRun: Printed;

    beforeAll(async () => {
      since = await lastEvent();
      dryRun = await apply(EXAMPLE, { prune: true, 'dry-run': true });
      expect(await lastEvent()).toBe(since);
      expect(() => statSync(path.join(folder, 'planner.secret'))).toThrow('ENOENT');
      const applied = await apply(EXAMPLE, { prune: true });
      expect([applied.code, applied.text.split('\n').slice(0, -2)]).toEqual([
        0,
        dryRun.text.split('\n').slice(0, -2),
      ]);
    });

    it('was told by the dry run, with exit code 2, field by field', () => {
      expect(dryRun.code).toBe(2);
      expect(dryRun.text).toContain('~ scope vehicle:read\n    description: ');
      expect(dryRun.text).toContain(
        '+ scope tariff:read\n    description: "See your tariff and its prices"\n',
      );
      expect(dryRun.text).toContain('- event type charging_session.created\n');
      expect(dryRun.text).toContain('+ client Invoices (clnt01HN2NJ9NMRZBXT1H6FT9N7736)\n');
      expect(dryRun.text).toContain('    secret: a new one, in planner.secret\n');
      expect(dryRun.text).toContain('    consents: driver@demo.example: scopes: ["tariff:read"]\n');
      expect(dryRun.text).not.toContain(SECRET);
      expect(dryRun.text).toMatch(/\n\nWould create 7, change \d+, remove \d+\.\n$/);
    });

    it('is what an export says, but for secrets and operator scopes', async () => {
      const { scopes, ...rest } = await exported();
      const expected = example();
      for (const client of expected.clients) delete client.secret;
      expect({ ...rest, scopes: omit(scopes!, OPERATOR_SCOPES) }).toEqual(expected);
    });

    it('writes nothing when it is applied again, nor when the export is', async () => {
      const text = await exportedText();
      const statements = await statementsDuring(service, async () => {
        expect(await apply(EXAMPLE, { prune: true })).toEqual({ code: 0, text: 'Nothing changed.\n' });
        expect(await apply(text)).toEqual({ code: 0, text: 'Nothing changed.\n' });
      });
      expect(statements.filter((sql) => /INSERT|UPDATE|DELETE|NOTIFY/.test(sql))).toEqual([]);
      expect(await apply(EXAMPLE, { 'dry-run': true })).toEqual({ code: 0, text: 'Nothing would change.\n' });
    });

    it('is in the audit log as by the admin API, in the name of the service', async () => {
      const found = await events(since);
      expect(new Set(found.map((event) => JSON.stringify(event)))).toEqual(
        new Set(
          listOf(`
            brand.updated, scope.created, scope.updated, scope.deleted, purpose.created, event_type.created,
            event_type.version_created, event_type.deleted, user.created, client.created, consent.granted
          `).map((action) => JSON.stringify({ action, actor_type: 'service' })),
        ),
      );
    });

    it('lets clients in with the secrets that it refers to, and no scope took a number in vain', async () => {
      const generated = path.join(folder, 'planner.secret');
      expect(statSync(generated).mode & 0o777).toBe(0o600);
      const { json } = await token('clnt01HN2NJ9NMRZBXT1H6FT9N7736', SECRET);
      expect(json.access_token).toEqual(expect.any(String));
      const planner = {
        id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
        secret: readFileSync(generated, 'utf8').trim(),
      };
      const refused = await service.http.token({ grant_type: 'client_credentials' }, planner);
      expect(refused.json.error).toBe('unauthorized_client');
      const [numbers] = await service.database.query<{ gap: number }>(
        'SELECT max(number) - max(number) FILTER (WHERE number < (SELECT max(number) FROM scopes)) AS gap FROM scopes',
      );
      expect(numbers!.gap).toBe(1);
    });
  });

  describe('changes', () => {
    beforeAll(() => apply(EXAMPLE));

    it('everything in the name of the admin that --as names', async () => {
      const admin = await service.make.user({ role: 'operator' });
      const since = await lastEvent();
      const changed = EXAMPLE.replace('name: Example Charging\n', 'name: Example\n')
        .replace('your tariff and', 'your tariff, and')
        .replace('To plan routes', 'To plan journeys')
        .replace('of a user has changed', 'of a user changed')
        .replace('name: Planner GmbH', 'name: Planner AG')
        .replace('name: Invoices', 'name: Bills');
      const { text } = await apply(changed, { as: admin.email });
      expect(text).toContain('0 created, 6 changed, 0 removed');
      expect(await actors(since)).toEqual([admin.id]);
      expect((await apply(changed)).text).toBe('Nothing changed.\n');
      await apply(EXAMPLE);
    });

    it('only what differs, and says it field by field', async () => {
      const since = await lastEvent();
      const changed = EXAMPLE.replace('https://planner.example/callback', 'https://planner.example/back')
        .replace('price_per_kwh: { type: number }', 'price_per_kwh: { type: number, minimum: 0 }')
        .replace('To plan routes', 'To plan journeys')
        .replace('name: Planner GmbH', 'name: Planner AG')
        .replace('#006b57', '#005B6B');
      const { text } = await apply(changed);
      expect(text).toBe(`~ owner partners@planner.example
    name: "Planner GmbH" → "Planner AG"
~ purpose route_planning
    words.en: "To plan routes with charging stops" → "To plan journeys with charging stops"
~ event type tariff.changed
    versions[0].schema.properties.price_per_kwh.minimum: 0
~ brand
    accent_color: "#006b57" → "#005b6b"
~ client Charge Planner (clnt01HN2NJ9NMRZBXT1H6FT9N7735)
    redirect_uris: ["https://planner.example/callback"] → ["https://planner.example/back"]

Done: 0 created, 5 changed, 0 removed.
`);
      const actions = (await events(since)).map(({ action }) => action);
      expect(actions.sort()).toEqual(
        listOf(`
        brand.updated, client.updated, event_type.version_updated, purpose.updated, user.updated
      `),
      );
      await apply(EXAMPLE);
    });

    it('nothing of what cannot change, and says why', async () => {
      const other = EXAMPLE.replace('scopes: [vehicle:read, tariff:read]', 'scopes: [vehicle:read]').replace(
        'optional_scopes: [tariff:read]',
        'optional_scopes: []',
      );
      expect((await refusal(other)).slice(1)).toEqual([
        expect.stringContaining('clients[0].scopes: cannot be changed after the client was created'),
      ]);
      const fewer = EXAMPLE.replace(/versions:[\s\S]*?\n\nowners/, 'versions: []\n\nowners');
      expect((await refusal(fewer)).slice(1)).toEqual([
        expect.stringContaining('event_types.tariff.changed.versions: must have the 1 versions'),
      ]);
      const operator = await service.make.user({ role: 'operator', email: 'op@charging.example' });
      const twice = { 'new@planner.example': { name: 'N' }, 'NEW@planner.example': { name: 'N' } };
      expect((await refusal({ owners: twice })).at(-1)).toContain(
        'NEW@planner.example: is in the file twice',
      );
      expect((await refusal({ owners: { [operator.email]: { name: 'X' } } })).at(-1)).toContain(
        'is an operator',
      );
    });

    it('not whether a client is enabled, unless it says so', async () => {
      const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
      await service.database.query('UPDATE clients SET enabled = false WHERE id = $1', [id]);
      expect((await apply(EXAMPLE)).text).toBe('Nothing changed.\n');
      const on = EXAMPLE.replace('name: Charge Planner', 'name: Charge Planner\n    enabled: true');
      expect((await apply(on)).text).toContain('enabled: false → true');
      const off = await apply(on.replace('enabled: true', 'enabled: false'));
      expect(off.text).toContain('enabled: true → false');
      await apply(on);
    });

    it('a secret, and lets the one before go on for a day; one that has ended never comes back, however long ago', async () => {
      const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7736';
      const { text } = await apply(EXAMPLE, { secret: OWN_SECRET });
      expect(text).toContain('secret: another one; those before stay valid for a day');
      expect([(await token(id, SECRET)).status, (await token(id, OWN_SECRET)).status]).toEqual([200, 200]);
      await service.database.query(
        "UPDATE client_secrets SET expires_at = now() - interval '1 year' WHERE client_id = $1 AND expires_at IS NOT NULL",
        [id],
      );
      await service.app.get(PurgeService).purge();
      expect((await refusal(EXAMPLE)).at(-1)).toContain('this secret of the client has expired');
      expect((await token(id, SECRET)).json.error).toBe('invalid_client');
      expect((await apply(EXAMPLE, { secret: OWN_SECRET })).text).toBe('Nothing changed.\n');
      await service.database.query('DELETE FROM client_secrets WHERE client_id = $1', [id]);
    });

    it('a secret beside one that someone gives the client at that moment, which goes on for a day', async () => {
      const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7736';
      // As a rotation does it.
      const rotation = `WITH held AS (SELECT id FROM clients WHERE id = $1 FOR NO KEY UPDATE)
        INSERT INTO client_secrets (client_id, digest) SELECT id, sha256('another one') FROM held`;
      await whileHeld(service, [rotation, [id]], [() => apply(EXAMPLE, { secret: OWN_SECRET })], 'COMMIT');
      const isEndless = await service.database.column<boolean>(
        'SELECT expires_at IS NULL FROM client_secrets WHERE client_id = $1 ORDER BY created_at',
        [id],
      );
      expect(isEndless).toEqual([false, true]);
      await service.database.query('DELETE FROM client_secrets WHERE client_id = $1', [id]);
    });

    it('a secret, for which a run that was killed had written a file, to the one in the file', async () => {
      const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
      const secret = readFileSync(path.join(folder, 'planner.secret'), 'utf8').trim();
      await service.database.query('DELETE FROM client_secrets WHERE client_id = $1', [id]);
      expect((await apply(EXAMPLE)).text).toContain('secret: a new one, in planner.secret');
      expect(readFileSync(path.join(folder, 'planner.secret'), 'utf8').trim()).toBe(secret);
      expect((await token(id, secret)).json.error).toBe('unauthorized_client');
      expect((await token(id, SECRET)).json.error).toBe('invalid_client');
    });

    it('a consent that was over before, also if nobody has ended that yet', async () => {
      await service.database.query(
        `UPDATE consents SET granted_at = '2025-01-31T08:00:00Z', expires_at = '2026-01-30T08:00:00Z'
          WHERE user_id = (SELECT id FROM users WHERE email = 'driver@demo.example')`,
      );
      expect((await apply(EXAMPLE)).text).toContain('consents: driver@demo.example');
      expect((await apply(EXAMPLE)).text).toBe('Nothing changed.\n');
    });

    it('no consent that its user has decided about since', async () => {
      const user = (
        await service.database.query<{ id: string }>(
          "SELECT id FROM users WHERE email = 'driver@demo.example'",
        )
      )[0]!;
      const actor = { type: 'user', id: user.id } as const;
      await service.app.get(ConsentsService).withdraw('clnt01HN2NJ9NMRZBXT1H6FT9N7736', user.id, actor);
      expect((await apply(EXAMPLE)).text).not.toContain('consents');
      const later = EXAMPLE.replace('2026-01-31T08', '2036-01-31T08');
      expect((await refusal(later)).at(-1)).toContain('granted_at: must not be in the future');
    });

    it('a client that it names without its id, if there is only one', async () => {
      const [, invoices] = example().clients;
      const client = { ...invoices, client_id: undefined, consents: undefined, secret: undefined };
      const renamed = { clients: [{ ...client, description: 'Found by its name' }] };
      expect((await apply(renamed)).text).toContain('~ client Invoices (clnt01HN2NJ9NMRZBXT1H6FT9N7736)');
      const other = { clients: [{ ...client, name: 'Other' }] };
      expect((await apply(other, { 'dry-run': true })).text).toContain('+ client Other\n');
      expect((await apply(other)).text).toContain('+ client Other (clnt');
      await service.database.query("UPDATE clients SET name = 'Invoices' WHERE name = 'Other'");
      expect((await refusal(renamed)).at(-1)).toContain('several clients of this owner');
    });
  });

  describe('with --prune', () => {
    beforeAll(() => apply(EXAMPLE));

    it('removes nothing if something cannot be removed, and says why', async () => {
      const before = await exported();
      const lines = await refusal({ scopes: {}, purposes: {}, event_types: {} }, { prune: true });
      expect(lines.slice(1)).toEqual([
        expect.stringContaining('purpose route_planning cannot be removed: A client declares this purpose'),
        expect.stringContaining('scope tariff:read cannot be removed: A client holds this scope'),
        expect.stringContaining('scope vehicle:read cannot be removed: A client holds this scope'),
      ]);
      expect(await exported()).toEqual(before);
      const typeless = { scopes: omit(before.scopes!, ['tariff:read']), clients: [] };
      expect((await refusal(typeless, { prune: true })).at(-1)).toContain('An event type needs this scope');
    });

    it('removes no event type that events were published with', async () => {
      const used = `UPDATE event_type_versions SET used_at = $1 WHERE type = 'tariff.changed'`;
      await service.database.query(used, [new Date()]);
      expect(await refusal({ event_types: {} }, { prune: true })).toContainEqual(
        expect.stringContaining('tariff.changed cannot be removed: Events of this type were published'),
      );
      await service.database.query(used, [null]);
    });

    it('removes an event type with the tests that partners have sent of it', async () => {
      const [id, ofAnother] = [newId('evnt'), newId('evnt')];
      await service.database.query(
        `INSERT INTO events (id, type, payload, deliveries, test)
         VALUES ($1, 'tariff.changed', '{}', 1, true), ($2, 'webhook.test', '{}', 1, true)`,
        [id, ofAnother],
      );
      const { text } = await apply({ event_types: {} }, { prune: true });
      expect(text).toContain('- event type tariff.changed\n');
      const left = 'SELECT id FROM events WHERE id = ANY ($1)';
      expect(await service.database.column(left, [[id, ofAnother]])).toEqual([ofAnother]);
      await apply(EXAMPLE);
    });

    it('removes what nothing needs any more; a client that comes back keeps no token', async () => {
      const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7736';
      const bearer = (await token(id, SECRET)).json.access_token as string;
      expect((await service.http.get('/v2/users', { bearer })).status).toBe(200);
      const { text } = await apply(
        { scopes: {}, purposes: {}, event_types: {}, clients: [] },
        { prune: true },
      );
      expect(text).toContain(`- client Invoices (${id})\n`);
      expect(Object.keys((await exported()).scopes!).sort()).toEqual([...OPERATOR_SCOPES].sort());
      await until(
        'the token has ended',
        async () => (await service.http.get('/v2/users', { bearer })).status === 401,
      );
      await apply(EXAMPLE);
      expect((await service.http.get('/v2/users', { bearer })).status).toBe(401);
      const again = (await token(id, SECRET)).json;
      const [scope] = await service.database.query<{ number: number }>(
        "SELECT number FROM scopes WHERE name = 'tariff:read'",
      );
      // Another one than before, which instances had in memory.
      expect(await service.app.get(ScopeNumbersService).of(['tariff:read'])).toEqual([scope!.number]);
      const answer = await service.http.get('/v2/users', { bearer: again.access_token as string });
      expect(answer.status).toBe(200);
    });
  });

  it('is refused while another one is being applied', async () => {
    await service.database.query('SELECT pg_advisory_lock(1702260343)');
    expect(await refusal(EXAMPLE)).toEqual([expect.stringContaining('Another file is being applied')]);
    await service.database.query('SELECT pg_advisory_unlock(1702260343)');
  });

  it('with many clients takes a few statements', async () => {
    await apply(EXAMPLE);
    const companyOf = (word: string, number: number) => {
      const owners = Object.fromEntries(
        Array.from({ length: number }, (_, n) => [
          `p${n}@${word}.example`,
          { name: `Partner ${n}`, kind: 'organisation' },
        ]),
      );
      const clients = Object.keys(owners).map((owner, n) => ({
        name: `Client ${n}`,
        owner,
        type: 'confidential',
        grant_types: ['authorization_code'],
        scopes: ['vehicle:read'],
        redirect_uris: [`https://${n}.${word}.example/`],
        secret: { generate: `${word}-${n}.secret` },
      }));
      return { owners, clients };
    };
    const counts = async (word: string, number: number): Promise<number[]> => {
      const { owners, clients } = companyOf(word, number);
      const changed = { owners, clients: clients.map((client) => ({ ...client, description: 'Changed' })) };
      const created = await statementsDuring(service, () => apply({ owners, clients }));
      const updated = await statementsDuring(service, () => apply(changed));
      expect((await apply(changed)).text).toBe('Nothing changed.\n');
      return [created.length, updated.length];
    };
    const few = await counts('few', 5);
    expect(Math.max(...few)).toBeLessThan(40);
    expect(await counts('many', 50)).toEqual(few);
  });
});

const omit = <T>(all: Record<string, T>, names: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
