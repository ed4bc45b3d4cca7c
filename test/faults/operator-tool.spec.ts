import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runOperatorTool } from '#start/operator-tool.js';
import { ReceiverCredentials } from '#events/webhooks/receiver-tokens/receiver-credentials.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { DataSource } from 'typeorm';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { AuditService, SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { keyIdOf } from '#platform/secrets/purpose-key.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';
import { changesRead } from '../support/changes-read.js';
import { BrowserSession, startInstance, TEST_ENCRYPTION_KEY, until, useService } from '../support/spec.js';
import { addApp, givePassword, newBrowserAt } from '../support/second-factors.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

const NEXT_KEY = Buffer.alloc(32, 'n').toString('base64');

describe('the operator tool for use without a browser', () => {
  const service = useService();

  type Ran = Promise<{ code: number; out: string; err: string }>;
  const environment = (env: Record<string, string>) => ({
    PATH: process.env.PATH,
    BASE_URL: service.url,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    ...env,
  });
  /** Runs it as `npm run operator` does. */
  const tool = (args: string[], env: Record<string, string> = {}): Ran =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        ['dist/src/operator.js', ...args],
        { env: environment(env) },
        (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });
  /** The service made for commands, by its settings: commands of the same settings share it, because making it costs more than most commands do. */
  const made: Record<string, Promise<INestApplication>> = {};
  afterAll(async () => {
    for (const app of Object.values(made)) await (await app).close();
  });
  /**
   * Runs it in this process, which saves a start of Node.js; one command after another. Its reader is slow, and the command must not
   * end before it has read everything.
   */
  const operator = async (args: string[], env: Record<string, string> = {}): Ran => {
    const printed = { stdout: '', stderr: '' };
    let unread = 0;
    const spies: jest.SpyInstance[] = (['stdout', 'stderr'] as const).map((name) =>
      jest.spyOn(process[name], 'write').mockImplementation((text, ...more: unknown[]) => {
        printed[name] += String(text);
        unread += 1;
        setImmediate(() => {
          unread -= 1;
          (more.at(-1) as (() => void) | undefined)?.();
        });
        return false;
      }),
    );
    const create = NestFactory.create.bind(NestFactory) as (...given: unknown[]) => Promise<INestApplication>;
    const making = jest.spyOn(NestFactory, 'create').mockImplementation(async (...given: unknown[]) => {
      const app = await (made[JSON.stringify(env)] ??= create(...given));
      return { get: app.get.bind(app), close: () => Promise.resolve() } as never;
    });
    try {
      const code = await runOperatorTool(args, environment(env));
      expect([args, unread]).toEqual([args, 0]);
      return { code, out: printed.stdout, err: printed.stderr };
    } finally {
      for (const spy of [...spies, making]) spy.mockRestore();
    }
  };
  const result = <T = Record<string, string>>(...args: string[]): Promise<T> => resultOf<T>(operator(args));
  const resultOf = async <T = Record<string, string>>(ran: Ran): Promise<T> => {
    const { code, out, err } = await ran;
    expect([code, err]).toEqual([0, '']);
    // The tool tells the database only: the service must know its changes before the test continues.
    await changesRead(service);
    return JSON.parse(out) as T;
  };

  it('imports consents from a file, and says with exit code 1 that lines were refused', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'charging-import-')), 'consents.ndjson');
    const line = {
      client_id: client.id,
      user_id: user.id,
      scopes: ['vehicle:read'],
      granted_at: '2025-05-01T12:00:00Z',
      evidence: 'Contract 4711',
    };
    writeFileSync(file, `${JSON.stringify(line)}\n`);
    expect(await result('import-consents', file, '--dry-run')).toMatchObject({ dry_run: true, imported: 1 });
    expect(await result('import-consents', file)).toMatchObject({ dry_run: false, imported: 1 });
    expect(await result('import-consents', file)).toMatchObject({ imported: 0, unchanged: 1 });
    writeFileSync(file, '{}\n');
    const refused = await operator(['import-consents', file]);
    expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('"line": 1')]);
    const missing = await operator(['import-consents', `${file}.gz`]);
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('The file cannot be read')]);
  });

  it('prints the words of the catalogues, and takes over those of a file', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'charging-words-')), 'words.json');
    type Words = Record<string, Record<string, Record<string, string | undefined>>>;
    const words = await result<Words>('words', '--export');
    expect(Object.keys(words)).toEqual(['scopes', 'purposes', 'event_types']);
    expect(Object.keys(words.scopes!['vehicle:read']!)).toEqual(['en', 'de', 'fr', 'nl', 'es']);
    const write = (changed: object) => writeFileSync(file, JSON.stringify(changed, null, 2));
    const run = (...more: string[]) => operator(['words', '--import', file, ...more]);

    const type = words.event_types!['vehicle.created'];
    write({
      scopes: { 'vehicle:read': { ...words.scopes!['vehicle:read'], pt: 'x' }, 'no:such': { en: 'x' } },
      purposes: { nothing: { en: 'x' } },
      event_types: { 'vehicle.created': { de: 'x' }, 'webhook.test': { en: 'x' } },
      others: {},
    });
    const refused = await run();
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.out)).toMatchObject({
      changed: [],
      refused: [
        { line: 9, reason: 'pt: is not a known member' },
        { line: 11, reason: expect.stringContaining('there is nothing with this name in scopes') },
        { line: 16, reason: expect.stringContaining('in purposes') },
        { line: 21, reason: expect.stringMatching(/^en: must be a string/) },
        { line: 24, reason: expect.stringContaining('in event_types') },
        { line: 28, reason: 'must be one of: scopes, purposes, event_types' },
      ],
    });

    words.event_types!['vehicle.created'] = { ...type, de: 'Ein neues Fahrzeug.' };
    words.scopes!['vehicle:read'] = { ...words.scopes!['vehicle:read'], es: undefined };
    write(words);
    const changed = ['scopes vehicle:read', 'event_types vehicle.created'];
    expect(await resultOf(run('--dry-run'))).toMatchObject({ dry_run: true, changed });
    expect(await result('words', '--import', file)).toMatchObject({ dry_run: false, changed });
    expect(await result('words', '--import', file)).toMatchObject({ changed: [], refused: [] });
    const now = await result<Words>('words', '--export');
    expect(now.event_types!['vehicle.created']!.de).toBe('Ein neues Fahrzeug.');
    expect(Object.keys(now.scopes!['vehicle:read']!)).toEqual(['en', 'de', 'fr', 'nl']);

    writeFileSync(file, '[]');
    expect(await run()).toMatchObject({ code: 1, err: 'The file must be a JSON object.\n' });
    writeFileSync(file, '{');
    expect((await run()).err).toContain('The file is not JSON: ');
    for (const args of [[], ['--export', '--import', file], ['--export', '--dry-run']])
      expect(await operator(['words', ...args])).toMatchObject({ code: 1, out: '' });
  });

  it('refuses unknown commands and arguments with a usage text, and exits with 1', async () => {
    const refused: [args: string[], words: string][] = [
      [[], 'Usage: npm run operator -- COMMAND'],
      [['no-such-command'], 'make-operator'],
      [['make-operator'], '--email ADDRESS'],
      [['make-operator', '--email', 'a', '--email', 'b'], '--email ADDRESS'],
      [['make-operator', '--email', 'no address'], 'must be a valid email address'],
      [['make-operator', '--password', 'x'], "Unknown option '--password'"],
      [['make-admin'], '<email>'],
      [['make-admin', 'nobody@mail.example'], 'No user has this email address.'],
      [['apply'], 'The file is missing: -f company.yaml'],
      [['apply', '-f', 'a', '-f', 'b'], '-f FILE'],
      [['apply', 'company.yaml'], 'Unexpected argument'],
      [['export', 'x'], 'Unexpected argument'],
      [['register-client', '--name', 'x'], 'apply -f FILE'],
      [['purge', 'everything'], 'purge'],
      [['audit', '--after', "0.audt'; --"], 'The cursor is not one'],
      [['audit', '--after', `${'9'.repeat(19)}.audt01HN2NJ9NMRZBXT1H6FT9N7735`], 'ahead of this database'],
      [['audit', '--follow=1'], '--follow'],
      [['refusals', '--after', "0.1'; --"], 'The cursor is not one'],
      [['refusals', '--after', '0.audt01HN2NJ9NMRZBXT1H6FT9N7735'], 'The cursor is not one'],
      [['refusals', '--after', `${'9'.repeat(19)}.1`], 'ahead of this database'],
      [['refusals', '1'], 'Unexpected argument'],
    ];
    for (const [args, words] of refused) {
      const { code, out, err } = await operator(args);
      expect([args, code, out]).toEqual([args, 1, '']);
      expect(err).toContain(words);
    }
    expect(await tool(['no-such-command'])).toEqual({ ...(await operator(['no-such-command'])), code: 1 });
  });

  it('refuses an invalid setting, and to work without a database', async () => {
    expect(await operator(['purge'], { ENCRYPTION_KEY: 'short' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('ENCRYPTION_KEY'),
    });
    expect((await operator(['purge'], { DATABASE_URL: '' })).err).toContain('DATABASE_URL is required.');
  });

  /** The cursor of the entry about a subject: it is in the log when every transaction of the server that began before is over. */
  const cursorOf = async (subjectId: string): Promise<string> => {
    for await (const { row: event, cursor } of service.app.get(AuditService).follow(undefined, true)) {
      if (event.subjectId === subjectId) return cursor;
    }
    throw new Error('The log ended.');
  };

  it('has the audit log in the order of commits, and goes on after a cursor', async () => {
    const audit = async (after?: string) => {
      const entries = [];
      for await (const { row: event, cursor } of service.app.get(AuditService).follow(after, false))
        entries.push({ cursor, id: event.id, subjectId: event.subjectId });
      return entries;
    };
    /** What is written after a cursor, which waits for every transaction of the server that began before. */
    const auditOf = async (count: number, after: string | undefined) => {
      let entries = await audit(after);
      await until('the entries are final', async () => (entries = await audit(after)).length >= count);
      return entries;
    };
    const record = (subjectId: string) =>
      service.app
        .get(AuditService)
        .record(SERVICE_ACTOR, { action: 'user.disabled', subjectType: 'user', subjectId });
    const database = service.app.get(DataSource);
    await database.transaction(() => record('start'));
    const last = await cursorOf('start');
    const before = await audit();
    // The one that began to write first commits last, with the later id.
    await database.transaction(async () => {
      await database.query('SELECT pg_current_xact_id()');
      await outsideTransaction(() => database.transaction(() => record('second')));
      expect(await audit(last)).toEqual([]);
      await record('first');
    });
    const after = await auditOf(2, last);
    expect(after.map(({ subjectId }) => subjectId)).toEqual(['first', 'second']);
    expect(after[0]!.id > after[1]!.id).toBe(true);
    expect(await audit(after[0]!.cursor)).toEqual([after[1]]);
    expect(await audit()).toEqual([...before, ...after]);

    // From a dump of a database that had counted further.
    await service.database.query(
      `INSERT INTO audit_events (action, actor_type, subject_type, subject_id, xid)
       VALUES ('user.disabled', 'service', 'user', 'restored', '9000000000000')`,
    );
    const [restored, ...more] = await auditOf(1, after[1]!.cursor);
    expect([restored!.subjectId, more]).toEqual(['restored', []]);
    expect(await audit(restored!.cursor)).toEqual([]);
  });

  it('writes refused requests after a cursor, without who and what was in them', async () => {
    const secret = 'a-wrong-secret-of-nobody';
    const request = (id: string) =>
      service.http.send('/o/token', {
        form: { grant_type: 'client_credentials' },
        basic: { id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', secret },
        headers: { 'x-request-id': id },
      });
    await request('refused-first');
    await request('refused-second');
    await service.http.get('/v2/users?query-value', { headers: { 'x-request-id': 'refused-third' } });
    await service.http.get('/openapi.json', { headers: { 'x-request-id': 'served' } });
    await service.app.get(RequestRecordsService).flush();
    const lines = async (...args: string[]) => {
      const { code, out } = await operator(['refusals', ...args]);
      expect(code).toBe(0);
      const all = out.trim().split('\n').filter(Boolean);
      return all.map((line) => JSON.parse(line) as { cursor: string; request_id: string });
    };
    const named = (name: string) => (line: { request_id: string }) => line.request_id === name;
    let all = await lines();
    await until('they are final', async () => (all = await lines()).some(named('refused-third')));
    const first = all.find(named('refused-first'))!;
    expect(first).toEqual({
      cursor: expect.stringMatching(/^\d+\.\d+$/) as string,
      id: expect.any(String) as string,
      occurred_at: expect.stringMatching(/^\d{4}-/) as string,
      request_id: 'refused-first',
      client_id: null,
      method: 'POST',
      route: '/o/token',
      status: 401,
      error: 'invalid_client',
      kind: 'token_refused',
      reason: 'unknown_client',
      injected: false,
      milliseconds: expect.any(Number) as number,
    });
    expect(JSON.stringify(all)).not.toMatch(/query-value|a-wrong-secret|127\.0\.0\.1/);
    expect(all.filter(named('served'))).toEqual([]);
    const after = await lines('--after', first.cursor);
    expect(after.filter(named('refused-first'))).toEqual([]);
    expect(after.filter(named('refused-second'))).toHaveLength(1);
    // From a dump of a database that had counted further.
    await service.database.query(
      "UPDATE request_records SET xid = '9000000000000' WHERE request_id = 'refused-first'",
    );
    await until('it is there again', async () =>
      (await lines('--after', first.cursor)).some(named('refused-first')),
    );
  });

  it('follows the audit log after a cursor until it is ended, a JSON object on each line', async () => {
    const newest = (subjectId: string) =>
      service.app
        .get(DataSource)
        .transaction(() =>
          service.app
            .get(AuditService)
            .record(SERVICE_ACTOR, { action: 'user.disabled', subjectType: 'user', subjectId }),
        );
    await newest('before');
    const cursor = await cursorOf('before');
    await newest('newer');
    const args = ['dist/src/operator.js', 'audit', '--follow', '--after', cursor];
    const child = spawn(process.execPath, args, { env: environment({}) });
    const ended = once(child, 'close');
    try {
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
      await until('it writes what was there', () => printed.endsWith('\n'));
      await newest('newest');
      await until('it writes what is new', () => printed.includes('"subject_id":"newest"'));
      const lines = printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
      const entry = {
        cursor: expect.stringMatching(/^\d+\.audt/) as string,
        actor_type: 'service',
        action: 'user.disabled',
      };
      expect(lines).toMatchObject(['newer', 'newest'].map((subject_id) => ({ ...entry, subject_id })));
    } finally {
      child.kill();
      await ended;
    }
  });

  it('creates an operator, who sets a password with the link and signs in', async () => {
    const made = await result(
      'make-operator',
      ...['--email', 'night-shift@mail.example', '--name', 'Night shift'],
    );
    const browser = new BrowserSession(service.url);
    const path = new URL(made.set_password_at!).pathname;
    const password = 'a password for the night';
    await browser.submit(await browser.open(path), path, { password, password_again: password });
    await browser.logIn('night-shift@mail.example', password);
    const [user] = await service.database.query('SELECT role FROM users WHERE id = $1', [made.id]);
    expect(user).toEqual({ role: 'operator' });
    expect((await operator(['make-operator', '--email', 'night-shift@mail.example'])).code).toBe(1);
  });

  it('gives no link to set a password where nobody logs in with one', async () => {
    const provider = {
      id: 'company',
      label: 'Company',
      issuer: 'https://login.example',
      accounts: 'verified_email',
      client_id: 'charging-data',
      client_secret: 'of-the-provider',
      audience: ['operators'],
    };
    const env = { PASSWORD_SIGN_IN: 'false', IDENTITY_PROVIDERS: JSON.stringify([provider]) };
    const made = await resultOf(operator(['make-operator', '--email', 'by-provider@mail.example'], env));
    expect(made).toEqual({ id: expect.stringMatching(/^user/) as string });
    const user = await service.make.user();
    const admin = await resultOf(operator(['make-admin', user.email], env));
    expect(admin).toEqual({ id: user.id, operator_role: 'admin' });
  });

  it('makes an existing user an admin when everybody is locked out, also a disabled one', async () => {
    const user = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
    await service.database.query("UPDATE users SET enabled = false WHERE role = 'operator'");
    const made = await result('make-admin', user.email.toUpperCase());
    expect(made).toEqual({
      id: user.id,
      operator_role: 'admin',
      set_password_at: expect.stringContaining('/password/') as string,
    });
    const browser = new BrowserSession(service.url);
    const path = new URL(made.set_password_at!).pathname;
    const password = 'a password for an emergency';
    await browser.submit(await browser.open(path), path, { password, password_again: password });
    await browser.logIn(user.email, password);
    expect((await browser.open('/admin/console')).status).toBe(200);
    const events = await service.database.query(
      "SELECT actor_type, after FROM audit_events WHERE subject_id = $1 AND action = 'user.updated'",
      [user.id],
    );
    expect(events).toEqual([{ actor_type: 'service', after: { operator_role: 'admin', enabled: true } }]);
  });

  it('applies a company file: 2 if it would change something, 1 if it is refused, 0 otherwise', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'charging-company-')), 'company.yaml');
    const ran = async (...args: string[]) => {
      const { code, out, err } = await operator(args);
      return [code, out + err];
    };
    writeFileSync(file, 'purposes: { billing: { words: { en: To bill } } }');
    const lines = '+ purpose billing\n    words.en: "To bill"\n\n';
    const sum = 'create 1, change 0, remove 0';
    expect(await ran('apply', '-f', file, '--dry-run')).toEqual([2, `${lines}Would ${sum}.\n`]);
    expect(await ran('apply', '--file', file)).toEqual([
      0,
      `${lines}Done: 1 created, 0 changed, 0 removed.\n`,
    ]);
    expect(await ran('apply', '-f', file, '--dry-run')).toEqual([0, 'Nothing would change.\n']);
    writeFileSync(file, 'purposes: { billing: { words: {} } }');
    expect(await ran('apply', '-f', file)).toEqual([
      1,
      `${file} was refused; nothing was changed.\n${file}:1: purposes.billing.words.en: must be a string of 1 to 300 characters, not only spaces\n`,
    ]);
    const schema = await operator(['apply', '--schema'], { DATABASE_URL: '', ENCRYPTION_KEY: '' });
    expect(JSON.parse(schema.out)).toMatchObject({ $schema: expect.stringContaining('2020-12') });
  });

  it('rotates the key that signs tokens, and revokes a leaked key with all tokens it signed', async () => {
    const client = await service.make.client();
    const before = await service.make.clientToken(client);
    const { keys } = await result<{ keys: { id: number; state: string }[] }>('token-keys');
    const [old] = keys.filter(({ state }) => state === 'signs');
    const { id } = await result<{ id: number }>('rotate-token-key');
    const after = await service.make.clientToken(client);
    const statuses = () =>
      Promise.all(
        [before, after].map(async (bearer) => (await service.http.get('/v2/users', { bearer })).status),
      );
    expect(await statuses()).toEqual([200, 200]);
    expect(await result('revoke-token-key', String(old!.id))).toEqual({ revoked: old!.id, signs: id });
    expect(await statuses()).toEqual([401, 200]);
    expect((await operator(['revoke-token-key', '1'])).code).toBe(1);
  });

  it('resets the second factor of a user, also of the only operator', async () => {
    const user = await service.make.user({ role: 'operator' });
    await addApp(await service.make.signedIn(user));
    expect(await result('reset-second-factor', user.id)).toEqual({ reset: user.id });
    expect((await givePassword(newBrowserAt(service), user)).headers.get('location')).toBe('/account');
    expect((await operator(['reset-second-factor', 'user01HN2NJ9NMRZBXT1H6FT9N7735'])).code).toBe(1);
  });

  it('purges expired rows', async () => {
    await leaveOutScheduledPurges(service);
    await service.database.query(
      "INSERT INTO revoked_access_tokens (id, expires_at) VALUES ('x', now() - interval '1 second')",
    );
    const { removed } = await result('purge');
    expect(Number(removed)).toBeGreaterThan(0);
  });

  it('reseals the secrets of endpoints under a new key, so that the previous key can be removed', async () => {
    const client = await service.make.client();
    const endpoints = service.app.get(EndpointsService);
    // Nothing is ever sent to it.
    const headers = { 'x-key': 'of-the-partner' };
    const tokenUrl = 'https://8.8.8.8/token';
    const authentication = {
      ...{ type: 'client_credentials' as const, token_url: tokenUrl, client_id: 'us' },
      client_secret: 'a secret for tokens',
    };
    const input = { url: 'https://8.8.8.8/hook', eventTypes: ['webhook.test'], headers, authentication };
    const { endpoint, secret } = await endpoints.create(client.id, input, SERVICE_ACTOR);
    const keys = { ENCRYPTION_KEY: NEXT_KEY, ENCRYPTION_KEYS_PREVIOUS: TEST_ENCRYPTION_KEY };
    const { out } = await tool(['reseal'], keys);
    // The endpoint's secret and the keys that sign tokens, including the revoked one.
    expect(JSON.parse(out)).toEqual({ resealed: 3, unreadable: [] });
    const next = await startInstance(service.database, { ENCRYPTION_KEY: NEXT_KEY });
    try {
      expect(await next.app.get(EndpointsService).liveSecrets(endpoint.id, client.id)).toEqual([secret]);
      expect(await endpoints.liveSecrets(endpoint.id, client.id)).toEqual([]);
      const resealed = await next.app.get(EndpointsService).get(endpoint.id);
      expect(await next.app.get(EndpointsService).revealHeaders(resealed, SERVICE_ACTOR)).toEqual(headers);
      await expect(endpoints.revealHeaders(resealed, SERVICE_ACTOR)).rejects.toThrow(
        'no longer be decrypted',
      );
      const openedBy = ({ app }: Pick<typeof service, 'app'>) =>
        app.get(ReceiverCredentials).open(endpoint.id, resealed);
      expect([openedBy(next), openedBy(service)]).toEqual(['a secret for tokens', undefined]);
    } finally {
      await next.app.close();
    }
    // From then on the previous key is refused, unless the new key is declared lost.
    const refused = await operator(['reseal']);
    const nextId = keyIdOf(Buffer.from(NEXT_KEY, 'base64'));
    expect([refused.code, refused.out]).toEqual([1, '']);
    expect(refused.err).toContain(`the one with the id ${nextId}`);
    const lost = await operator(['reseal', '--lost-key', nextId]);
    const aKey = expect.stringMatching(/^token key \d+$/) as string;
    const unreadable = [endpoint.id, aKey, aKey];
    expect(JSON.parse(lost.out)).toEqual({ resealed: 0, unreadable });
    // A new signing key is created, sealed under the current encryption key.
    const again = await operator(['reseal']);
    expect([again.code, JSON.parse(again.out)]).toEqual([0, { resealed: 1, unreadable }]);
  });
});
