import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadSettings, migrationSettingsOf, type Settings } from '#platform/config/settings.js';
import { refusalOf } from '../support/settings-refusal.js';

const KEY = Buffer.alloc(32, 1).toString('base64');
const DATABASE_URL = 'postgres://user:password@db.example:5432/charging';
const PRODUCTION = {
  NODE_ENV: 'production',
  BASE_URL: 'https://auth.example',
  DATABASE_URL,
  ENCRYPTION_KEY: KEY,
};
const DEVELOPMENT = { DATABASE_URL, ENCRYPTION_KEY: KEY };

/** A setting's property, its default, accepted values with their results, and refused values. */
type Row = [
  name: string,
  property: keyof Settings,
  standard: unknown,
  good: [string, unknown][],
  bad: string[],
];

const wholeNumber = (
  name: string,
  property: keyof Settings,
  standard: number,
  min: number,
  max: number,
): Row => [
  ...([name, property, standard] as const),
  [min, max, standard].map((n): [string, unknown] => [String(n), n]),
  [String(min - 1), String(max + 1), '1.5', '1e2', '0x10', ' 30', '-30', 'Infinity', 'sixty', '9'.repeat(40)],
];

/** Values that are accepted unchanged. */
const asTheyAre = (...values: string[]) => values.map((value): [string, unknown] => [value, value]);

const YEAR = 31_536_000;
const ROWS: Row[] = [
  wholeNumber('PORT', 'port', 3000, 1, 65_535),
  wholeNumber('ACCESS_TOKEN_TTL_SECONDS', 'accessTokenTtl', 36_000, 1, YEAR),
  wholeNumber('AUTHORIZATION_CODE_TTL_SECONDS', 'authorizationCodeTtl', 60, 1, 600),
  wholeNumber('PORTAL_LINK_TTL_SECONDS', 'portalLinkTtl', 300, 1, 86_400),
  wholeNumber('PORTAL_SESSION_TTL_SECONDS', 'portalSessionTtl', 3600, 1, 86_400),
  wholeNumber('REFRESH_TOKEN_TTL_SECONDS', 'refreshTokenTtl', 2_592_000, 1, 10 * YEAR),
  wholeNumber('GRANT_TTL_SECONDS', 'grantTtl', YEAR, 1, 10 * YEAR),
  wholeNumber('REFRESH_GRACE_SECONDS', 'refreshGrace', 60, 0, 3600),
  wholeNumber('SESSION_TTL_SECONDS', 'sessionTtl', 604_800, 60, YEAR),
  wholeNumber('OPERATOR_SESSION_TTL_SECONDS', 'operatorSessionTtl', 43_200, 60, YEAR),
  wholeNumber('OPERATOR_SESSION_IDLE_SECONDS', 'operatorSessionIdle', 3600, 60, YEAR),
  wholeNumber('RETENTION_DAYS', 'retentionDays', 30, 1, 3650),
  wholeNumber('DATABASE_WAIT_SECONDS', 'databaseWait', 60, 0, 3600),
  wholeNumber('MAILS_PER_NETWORK_ADDRESS', 'mailsPerNetworkAddress', 20, 1, 1_000_000),
  wholeNumber('WEBHOOK_CONCURRENCY', 'webhookConcurrency', 512, 1, 4096),
  wholeNumber('MIGRATION_WAIT_SECONDS', 'migrationWait', 600, 0, 86_400),
  wholeNumber('DATABASE_POOL_SIZE', 'databasePoolSize', 20, 2, 1000),
  wholeNumber('RATE_LIMIT_PER_HOUR', 'rateLimit', 1000, 1, 1_000_000_000),
  wholeNumber('OAUTH_RATE_LIMIT_PER_MINUTE', 'oauthRateLimit', 600, 1, 1_000_000_000),
  [
    ...([
      'WEBHOOK_RETRY_SCHEDULE_SECONDS',
      'webhookRetrySchedule',
      [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400],
    ] as const),
    [
      ['1', [1]],
      ['604800', [604_800]],
      [' 60 , 5,5 ', [60, 5, 5]],
      ['007', [7]],
      [Array(50).fill('1').join(','), Array(50).fill(1)],
    ],
    [
      '0',
      '604801',
      '5,0',
      '5,604801',
      '5;300',
      '5 300',
      '1.5',
      '1e3',
      '0x10',
      '-5',
      '+5',
      '5s',
      'never',
      ',',
      '9'.repeat(40),
      Array(51).fill('1').join(','),
      'Infinity',
      '٥',
    ],
  ],
  [
    ...(['WEBHOOK_ALLOW_PRIVATE_ADDRESSES', 'webhookAllowPrivateAddresses', false] as const),
    [
      ['true', true],
      ['false', false],
    ],
    ['TRUE', 'True', 'yes', 'no', '1', '0', 'on', ' true', 'true ', 'truefalse'],
  ],
  [
    ...(['REDIS_URL', 'redisUrl', undefined] as const),
    asTheyAre('redis://127.0.0.1:6379', 'rediss://user:p%40ss@redis.example:6380/1', 'redis://[::1]:6379'),
    [
      'redis.example:6379',
      'http://redis.example',
      'redis:',
      'redis://',
      'redis:///0',
      'unix:/x',
      'redis://?a=b',
      'redis://%zz@redis.example',
      'redis://redis.example,redis://:p%ff@redis.example',
    ],
  ],
  [
    ...(['METRICS_TOKEN', 'metricsToken', undefined] as const),
    asTheyAre('x'.repeat(16), 'x'.repeat(512), '!"#$%&()*+,-./:;<=>?'),
    ['x'.repeat(15), 'x'.repeat(513), 'with a blank in it', 'with\ttab-characters', 'nöt-only-ascii-here'],
  ],
  [
    ...(['OTEL_EXPORTER_OTLP_ENDPOINT', 'tracing', undefined] as const),
    [
      ['http://localhost:4318', 'http/protobuf'],
      ['https://key:word@traces.example/otlp', 'http/protobuf'],
    ],
    ['localhost:4318', '4318', 'grpc://traces.example', 'http://', 'http:///v1', 'https://a b/'],
  ],
  [
    ...(['OTEL_EXPORTER_OTLP_PROTOCOL', 'tracing', undefined] as const),
    // On its own it enables no tracing.
    [
      ['http/json', undefined],
      ['http/protobuf', undefined],
    ],
    ['grpc', 'json', 'HTTP/JSON', 'http/protobuf '],
  ],
  [
    ...(['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'tracing', undefined] as const),
    [['http://localhost:4318/v1/traces', 'http/protobuf']],
    ['localhost:4318', 'grpc://traces.example', 'http://'],
  ],
  [
    ...(['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'metricsExport', undefined] as const),
    [['http://localhost:9090/api/v1/otlp/v1/metrics', 'http/protobuf']],
    ['localhost:4318', 'grpc://metrics.example', 'http://'],
  ],
  [
    ...(['OTEL_TRACES_EXPORTER', 'tracing', undefined] as const),
    [['otlp', undefined]],
    ['console', 'OTLP', 'otlp,none'],
  ],
  [
    ...(['OTEL_METRICS_EXPORTER', 'metricsExport', undefined] as const),
    [['none', undefined]],
    ['prometheus', 'otlp '],
  ],
  [
    ...(['OTEL_LOGS_EXPORTER', 'logExport', undefined] as const),
    [['none', undefined]],
    ['console', 'otlp,none'],
  ],
  [
    ...(['OTEL_EXPORTER_OTLP_LOGS_ENDPOINT', 'logExport', undefined] as const),
    [['http://localhost:3100/otlp/v1/logs', 'http/protobuf']],
    ['localhost:4318', 'grpc://logs.example', 'http://'],
  ],
  [
    ...(['HOST', 'host', '127.0.0.1'] as const),
    asTheyAre('0.0.0.0', '::1', 'internal.example'),
    ['host name', 'http://0.0.0.0', 'a/b', 'x'.repeat(300)],
  ],
  [
    ...(['LOG_LEVEL', 'logLevel', 'info'] as const),
    asTheyAre('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    ['INFO', 'verbose', '30'],
  ],
  [
    ...(['BASE_URL', 'baseUrl', 'http://localhost:3000'] as const),
    [
      ['https://auth.example', 'https://auth.example'],
      ['https://auth.example/', 'https://auth.example'],
      ['HTTPS://Auth.Example:443', 'https://auth.example'],
      ['http://dev.internal:8080', 'http://dev.internal:8080'],
    ],
    [
      'auth.example',
      'ftp://auth.example',
      'https://',
      '//auth.example',
      'https://auth.example/path',
      'https://auth.example/?',
      'https://auth.example#',
      'https://user:pass@auth.example',
      'javascript:alert(1)',
    ],
  ],
  [
    ...(['DATABASE_URL', 'databaseUrl', DATABASE_URL] as const),
    asTheyAre('postgresql://db.example/charging'),
    [
      'mysql://user:password@db.example/charging',
      'db.example:5432',
      'postgres:charging',
      'postgres://[',
      'postgres://a:%zz@b/c',
      'postgres://[::1]/b?c=d e',
      'postgres://[::1]/b?c=%z',
    ],
  ],
  [
    ...(['TRUSTED_PROXIES', 'trustedProxies', []] as const),
    [
      ['10.0.0.1', ['10.0.0.1']],
      [' 10.0.0.0/8 , fd00::/8,::1', ['10.0.0.0/8', 'fd00::/8', '::1']],
    ],
    [
      'proxy.example',
      '10.0.0.0/33',
      '10.0.0.0/8;::1',
      '10.0.0.256',
      'loopback, *',
      '::/0',
      '127.1',
      '0x7f.0.0.1',
    ],
  ],
];

describe('settings', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(path.join(tmpdir(), 'charging-settings-'))));
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe.each(ROWS)('%s', (name, property, standard, good, bad) => {
    it.each(bad)(
      'prevents the start if it is wrong, with a message that names the setting and not the value: %j',
      async (value) => {
        const message = await refusalOf({ ...DEVELOPMENT, [name]: value });
        expect(message).toMatch(new RegExp(`^  ${name} must \\w.{8,}$`, 'm'));
        // The message is the same for every value, so it shows none of them.
        expect(message).toBe(await refusalOf({ ...DEVELOPMENT, [name]: bad[0]! }));
      },
    );

    it(`is ${JSON.stringify(standard)} by default`, async () => {
      for (const left of [{}, { [name]: name === 'DATABASE_URL' ? DATABASE_URL : '' }])
        expect((await loadSettings({ ...DEVELOPMENT, ...left }))[property]).toEqual(standard);
    });

    it.each(good)('may be %j', async (value, expected) => {
      expect((await loadSettings({ ...DEVELOPMENT, [name]: value }))[property]).toEqual(expected);
    });
  });

  const OTLP = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  const TRACES_ALONE = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318/v1/traces' };
  const METRICS_ALONE = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://localhost:4318/v1/metrics' };

  const LOGS_ALONE = { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://localhost:4318/v1/logs' };

  it.each<[Record<string, string>, ...(string | undefined)[]]>([
    [OTLP, 'http/json', 'http/json', undefined],
    [TRACES_ALONE, 'http/protobuf', undefined, undefined],
    [{ ...TRACES_ALONE, OTEL_TRACES_EXPORTER: 'none' }, undefined, undefined, undefined],
    [METRICS_ALONE, undefined, 'http/protobuf', undefined],
    [{ ...OTLP, OTEL_METRICS_EXPORTER: 'none' }, 'http/json', undefined, undefined],
    [
      { ...OTLP, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'otlp' },
      undefined,
      'http/json',
      undefined,
    ],
    [{ ...METRICS_ALONE, OTEL_METRICS_EXPORTER: 'none' }, undefined, undefined, undefined],
    [{ ...OTLP, OTEL_LOGS_EXPORTER: 'otlp' }, 'http/json', 'http/json', 'http/json'],
    [LOGS_ALONE, undefined, undefined, 'http/protobuf'],
    [{ ...LOGS_ALONE, OTEL_LOGS_EXPORTER: 'none' }, undefined, undefined, undefined],
  ])('%j: traces by %s, metrics by %s, logs by %s', async (given, traces, metrics, logs) => {
    const { tracing, metricsExport, logExport } = await loadSettings({ ...DEVELOPMENT, ...given });
    expect([tracing, metricsExport, logExport]).toEqual([traces, metrics, logs]);
  });

  it('refuse to send logs nowhere', async () => {
    expect(await refusalOf({ ...DEVELOPMENT, OTEL_LOGS_EXPORTER: 'otlp' })).toContain(
      '  OTEL_LOGS_EXPORTER can be otlp only with OTEL_EXPORTER_OTLP_ENDPOINT',
    );
  });

  describe('in production', () => {
    it('name everything that is missing at once, and create no key', async () => {
      const DATA_DIR = path.join(folder, 'production');
      const message = await refusalOf({ NODE_ENV: 'production', DATA_DIR });
      for (const name of ['BASE_URL', 'DATABASE_URL', 'ENCRYPTION_KEY'])
        expect(message).toContain(`  ${name} must`);
      await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT');
    });

    it.each(['BASE_URL', 'DATABASE_URL', 'ENCRYPTION_KEY'])('need %s', async (name) => {
      expect(await refusalOf({ ...PRODUCTION, [name]: undefined })).toContain(`  ${name} must`);
      expect(await refusalOf({ ...PRODUCTION, [name]: '' })).toContain(`  ${name} must`);
    });

    it.each([
      'http://auth.example',
      'http://127.0.0.1.auth.example',
      'http://localhost.example',
      'http://10.0.0.1',
    ])('refuse %s: http is only for loopback', async (BASE_URL) =>
      expect(await refusalOf({ ...PRODUCTION, BASE_URL })).toMatch(/ {2}BASE_URL must .*https/),
    );

    it('accept https, and http on loopback; cookies are secure only with https', async () => {
      expect(await loadSettings(PRODUCTION)).toMatchObject({
        production: true,
        demonstration: false,
        secure: true,
      });
      for (const BASE_URL of ['http://127.0.0.1:3000', 'http://localhost:3000', 'http://[::1]:3000']) {
        expect(await loadSettings({ ...PRODUCTION, BASE_URL })).toMatchObject({
          baseUrl: BASE_URL,
          secure: false,
        });
      }
    });

    it('refuse an unknown NODE_ENV, such as "prod"', async () => {
      for (const NODE_ENV of ['Production', 'prod', 'staging']) {
        expect(await refusalOf({ ...PRODUCTION, NODE_ENV })).toMatch(
          / {2}NODE_ENV must be production, development/,
        );
      }
    });
  });

  describe('of the demonstration', () => {
    it.each(['0.0.0.0', '::', '192.0.2.1', 'demo.example', '127.0.0.1.example'])(
      'refuse to listen on %s',
      async (HOST) => {
        const DATA_DIR = path.join(folder, 'demonstration-refused');
        expect(await refusalOf({ HOST, DATA_DIR })).toMatch(/ {2}HOST must be a loopback address/);
        await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT');
      },
    );

    it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('allow it to listen on %s', async (HOST) => {
      const settings = await loadSettings({ HOST, PORT: '4711', ENCRYPTION_KEY: KEY });
      expect(settings).toMatchObject({
        demonstration: true,
        production: false,
        baseUrl: 'http://localhost:4711',
      });
    });
  });

  describe('of signing up', () => {
    const signUp = async (given: NodeJS.ProcessEnv) =>
      (await loadSettings({ ENCRYPTION_KEY: KEY, ...given })).signUp;
    const IDENTITY_PROVIDERS = JSON.stringify([
      {
        id: 'acme',
        label: 'Acme',
        issuer: 'https://idp.example',
        client_id: 'charging',
        client_secret: 'secret',
        audience: ['users'],
        accounts: 'linked',
      },
    ]);

    it('switch it on only in the demonstration, unless they say something else', async () => {
      expect(await signUp({ DATABASE_URL, NODE_ENV: 'test' })).toBe(false);
      for (const given of [{}, { SIGN_UP: '' }, { SIGN_UP: 'true' }]) expect(await signUp(given)).toBe(true);
      expect(await signUp({ SIGN_UP: 'false' })).toBe(false);
      const SIGN_UP_FILE = path.join(folder, 'sign-up');
      await writeFile(SIGN_UP_FILE, 'false\n');
      expect(await signUp({ SIGN_UP_FILE })).toBe(false);
    });

    it('let the demonstration start without passwords: then nobody can sign up', async () => {
      const given = { PASSWORD_SIGN_IN: 'false', IDENTITY_PROVIDERS };
      expect(await signUp(given)).toBe(false);
      expect(await refusalOf({ ENCRYPTION_KEY: KEY, ...given, SIGN_UP: 'true' })).toMatch(
        / {2}SIGN_UP can only be true with .*PASSWORD_SIGN_IN/,
      );
    });
  });

  describe('of migrations', () => {
    const missing = () => path.join(folder, 'missing');

    it('are refused if the file of one of them cannot be read', () => {
      expect(() => migrationSettingsOf({ DATABASE_URL_FILE: missing() })).toThrow(
        'DATABASE_URL_FILE must name a file that can be read (ENOENT)',
      );
    });

    it('do not need the files of others', () => {
      expect(migrationSettingsOf({ DATABASE_URL, ENCRYPTION_KEY_FILE: missing() }).databaseUrl).toBe(
        DATABASE_URL,
      );
    });
  });

  describe('of the first operator', () => {
    const person = {
      BOOTSTRAP_OPERATOR_EMAIL: 'op@mail.example',
      BOOTSTRAP_OPERATOR_PASSWORD: 'twelve chars',
    };
    const id = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
    const client = {
      BOOTSTRAP_OPERATOR_CLIENT_ID: id,
      BOOTSTRAP_OPERATOR_CLIENT_SECRET: ' é:%+'.padEnd(32, 's'),
    };

    it.each([
      ['only an address', { BOOTSTRAP_OPERATOR_EMAIL: 'op@mail.example' }, ['PASSWORD']],
      ['only a password', { BOOTSTRAP_OPERATOR_PASSWORD: 'twelve chars' }, ['EMAIL']],
      ['only a client', client, ['EMAIL', 'PASSWORD']],
      ['a client without a secret', { ...person, BOOTSTRAP_OPERATOR_CLIENT_ID: id }, ['CLIENT_SECRET']],
      [
        'only a secret',
        { BOOTSTRAP_OPERATOR_CLIENT_SECRET: 's'.repeat(32) },
        ['CLIENT_ID', 'EMAIL', 'PASSWORD'],
      ],
      ['no address', { ...person, BOOTSTRAP_OPERATOR_EMAIL: 'operator' }, ['EMAIL']],
      ['a short password', { ...person, BOOTSTRAP_OPERATOR_PASSWORD: 'eleven char' }, ['PASSWORD']],
      ['a long password', { ...person, BOOTSTRAP_OPERATOR_PASSWORD: 'x'.repeat(257) }, ['PASSWORD']],
      ['another id', { ...person, ...client, BOOTSTRAP_OPERATOR_CLIENT_ID: id.toLowerCase() }, ['CLIENT_ID']],
      [
        'a short secret',
        { ...person, ...client, BOOTSTRAP_OPERATOR_CLIENT_SECRET: 's'.repeat(31) },
        ['CLIENT_SECRET'],
      ],
    ])('are refused with %s', async (_name, given: Record<string, string>, named) => {
      const message = await refusalOf({ ...PRODUCTION, ...given });
      expect(
        [...message.matchAll(/^ {2}BOOTSTRAP_OPERATOR_(\S+) must /gm)].map((match) => match[1]).sort(),
      ).toEqual(named);
      for (const value of Object.values(given)) expect(message).not.toContain(value);
    });

    it('may specify nobody, a person, or a person and a client with any secret', async () => {
      expect((await loadSettings(PRODUCTION)).bootstrapOperator).toBeUndefined();
      const operator = { email: 'op@mail.example', password: 'twelve chars' };
      expect((await loadSettings({ ...PRODUCTION, ...person })).bootstrapOperator).toEqual(operator);
      const both = await loadSettings({ ...PRODUCTION, ...person, ...client });
      const secret = client.BOOTSTRAP_OPERATOR_CLIENT_SECRET;
      expect(both.bootstrapOperator).toEqual({ ...operator, client: { id, secret } });
    });
  });

  it('report every wrong one at once, and ignore other variables', async () => {
    const message = await refusalOf({
      ...DEVELOPMENT,
      PORT: 'x',
      LOG_LEVEL: 'x',
      RETENTION_DAYS: 'x',
      SHELL: 'x',
    });
    expect([...message.matchAll(/^ {2}(\S+) must/gm)].map((match) => match[1]).sort()).toEqual([
      'LOG_LEVEL',
      'PORT',
      'RETENTION_DAYS',
    ]);
  });
});
