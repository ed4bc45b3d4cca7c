import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { SettingsError } from '#platform/config/process-environment.js';
import { loadSettings } from '#platform/config/settings.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');

describe('settings in files', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), 'charging-setting-files-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const file = async (name: string, text: string): Promise<string> => {
    const at = path.join(folder, name);
    await writeFile(at, text);
    return at;
  };
  const refusal = async (environment: Record<string, string>): Promise<string> => {
    const error: unknown = await loadSettings(environment).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  };

  it('are refused together with the setting itself, and if the file is missing, empty or a folder', async () => {
    const message = await refusal({
      NODE_ENV: 'production',
      BASE_URL: 'https://auth.example',
      DATABASE_URL: 'postgres://db.example/x',
      DATABASE_URL_FILE: await file('url', 'postgres://u:hidden-word@db.example/x'),
      ENCRYPTION_KEY_FILE: path.join(folder, 'missing'),
      METRICS_TOKEN_FILE: await file('empty', '\n'),
      REDIS_URL_FILE: folder,
    });
    expect(message.split('\n').slice(1)).toEqual([
      '  DATABASE_URL_FILE must not be set together with DATABASE_URL',
      '  ENCRYPTION_KEY_FILE must name a file that can be read (ENOENT)',
      '  REDIS_URL_FILE must name a file that can be read (EISDIR)',
      '  METRICS_TOKEN_FILE must name a file of at most 64 kB that contains the setting',
    ]);
  });

  it('are validated like the setting, under its name, and never shown', async () => {
    const message = await refusal({ ENCRYPTION_KEY_FILE: await file('short', 'hidden-word\n') });
    expect(message).toMatch(/^ {2}ENCRYPTION_KEY must be 32 random bytes/m);
    expect(message).not.toContain('hidden-word');
  });

  it('work for every setting, without the final line break, including the bootstrap operator and previous keys', async () => {
    const settings = await loadSettings({
      NODE_ENV: 'production',
      BASE_URL: 'https://auth.example',
      DATABASE_URL_FILE: await file('database', 'postgres://u:p@db.example/x\n'),
      REDIS_URL_FILE: await file('redis', 'redis://:p@redis.example\r\n'),
      ENCRYPTION_KEY_FILE: await file('key', `${KEY}\n`),
      ENCRYPTION_KEYS_PREVIOUS_FILE: await file('older', OTHER_KEY),
      METRICS_TOKEN_FILE: await file('token', 'sixteen-characters\n'),
      BOOTSTRAP_OPERATOR_EMAIL_FILE: await file('email', 'op@mail.example\n'),
      BOOTSTRAP_OPERATOR_PASSWORD_FILE: await file('password', ' twelve chars \n'),
      PORT_FILE: await file('port', '4711'),
    });
    expect(settings).toMatchObject({
      databaseUrl: 'postgres://u:p@db.example/x',
      redisUrl: 'redis://:p@redis.example',
      encryptionKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
      metricsToken: 'sixteen-characters',
      bootstrapOperator: { email: 'op@mail.example', password: ' twelve chars ' },
      port: 4711,
    });
  });

  it('are what docker-compose.yml passes to its containers, created once by deploy/make-secrets.sh', async () => {
    const secrets = path.join(folder, 'secrets');
    // Made by somebody before, as by a checkout.
    await mkdir(secrets);
    await chmod(secrets, 0o755);
    const make = () => promisify(execFile)('sh', ['deploy/make-secrets.sh', secrets]);
    const all = async () =>
      Object.fromEntries(
        await Promise.all(
          (await readdir(secrets)).map(async (name) => [
            name,
            await readFile(path.join(secrets, name), 'utf8'),
          ]),
        ),
      ) as Record<string, string>;
    await make();
    const made = await all();
    await make();
    expect(await all()).toEqual(made);
    expect(new Set(Object.values(made)).size).toBe(Object.keys(made).length);
    expect((await stat(secrets)).mode & 0o077).toBe(0);
    // `curl -u` sends it as it is, and the service decodes it as a form.
    expect(made.bootstrap_operator_client_secret).toMatch(/^[\w.~-]+$/);

    const compose = await readFile('docker-compose.yml', 'utf8');
    const declared = [...compose.matchAll(/^ {2}(\w+): \{ file: \.\/secrets\/(\w+) \}$/gm)];
    expect(declared.map(([, name, inFolder]) => [name, inFolder]).sort()).toEqual(
      Object.keys(made)
        .map((name) => [name, name])
        .sort(),
    );
    // The guide sets in .env everything that the file insists on.
    const guide = await readFile('docs/deployment.md', 'utf8');
    const commands = [...guide.matchAll(/^(echo .+) >>\.env$/gm)].map(([, command]) => command);
    const { stdout } = await promisify(execFile)('sh', ['-c', commands.join('\n')]);
    const dotEnv = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    ) as object;
    const required = [...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(Object.keys(dotEnv)).toEqual(required);
    // The settings of the service in that file, but read from this folder.
    const given = [...compose.matchAll(/^ {6}(\w+_FILE): \/run\/secrets\/(\w+)$/gm)]
      .filter(([, name]) => !name!.startsWith('POSTGRES_'))
      .filter(([, , file]) => file !== 'owner_database_url');
    expect(given.map(([, name]) => name)).toContain('DATABASE_URL_FILE');
    const settings = await loadSettings({
      NODE_ENV: 'production',
      BASE_URL: 'https://auth.example',
      MIGRATE_ON_START: 'false',
      ...dotEnv,
      ...Object.fromEntries(given.map(([, name, inFolder]) => [name, path.join(secrets, inFolder!)])),
    });
    expect(settings).toMatchObject({
      databaseUrl: made.service_database_url,
      metricsToken: made.metrics_token,
      encryptionKeys: [Buffer.from(made.encryption_key!, 'base64')],
    });
  });
});
