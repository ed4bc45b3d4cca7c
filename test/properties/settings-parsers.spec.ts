import fc from 'fast-check';
import { connectionOptions } from '#platform/database/connections/connections.js';
import { fastify } from 'fastify';
import {
  readEnvironment,
  SETTING_NAMES,
  SettingsError,
  type ProcessEnvironment,
} from '#platform/config/process-environment.js';
import { isUrl, isLoopbackHost } from '#platform/config/is-url.js';
import { parseIdentityProviders } from '#platform/config/identity-providers.js';
import { loadSettings } from '#platform/config/settings.js';
import { parseEncryptionKey, splitList } from '#platform/config/setting-constraints.js';
import { connectRedis } from '#access/rate-limits/store/redis-connection.js';
import { oddText } from './support/odd-text.js';
import { always, alwaysAsync } from './support/runs.js';

const NAMES = [...SETTING_NAMES, '__proto__', 'constructor'];
const PIECES = [
  'https://',
  'http://',
  'postgres://',
  'postgresql://',
  'redis://',
  'rediss://',
  'smtp://',
  'smtps://',
  'user:',
  'p%zz',
  '%2f',
  '@',
  'a.example',
  '[::1]',
  '127.0.0.1',
  '10.0.0.0/8',
  '::/0',
  '/33',
  ':5432',
  ':99999',
  '/',
  '/db',
  '?sslmode=require',
  '?a=%zz',
  '#',
  ',',
  ' ',
  '5',
  '0',
  'production',
  'test',
  'true',
  'info',
  'x'.repeat(43),
  `${'k'.repeat(43)}=`,
  '0x7f.1',
  '1',
  'a@mail.example',
  'A service <',
  '>',
  '[{"id":"',
  '"}]',
];
/** As provided by the operating system: UTF-8 without NUL. */
const value = (): fc.Arbitrary<string> =>
  fc
    .oneof(
      oddText(),
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
      fc.integer().map(String),
    )
    .map((text) => text.toWellFormed().replaceAll('\0', ''));
const read = (source: Record<string, string>): ProcessEnvironment | undefined => {
  try {
    return readEnvironment(source);
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
};

describe('The settings', () => {
  it('are either accepted, or refused with a message that names each invalid one and quotes none', () => {
    const environment = fc.dictionary(fc.constantFrom(...NAMES), value(), {
      maxKeys: 6,
      noNullPrototype: true,
    });
    always(
      fc.property(environment, (source) => {
        try {
          readEnvironment(source);
          return true;
        } catch (error) {
          if (!(error instanceof SettingsError)) throw error;
          const lines = error.message.split('\n').slice(1);
          const isNamed =
            lines.length > 0 && lines.every((line) => /^ {2}[A-Z_]+ (must |provider \d: )/.test(line));
          const secrets = Object.values(source).filter((text) => text.length > 30);
          return isNamed && !secrets.some((text) => error.message.includes(text));
        }
      }),
    );
  });

  it('of identity providers are either accepted as they are, or refused with a message that quotes none', () => {
    const anything = fc.oneof(fc.jsonValue(), value());
    const member = <T>(...usual: T[]) =>
      fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...usual) }, anything);
    const provider = fc.record(
      {
        id: member('company', 'other-1'),
        label: member('Example Company', 'Ä'),
        issuer: member('https://login.example', 'https://login.example/tenant/', 'http://127.0.0.1:9'),
        client_id: member('charging'),
        client_secret: member('x'.repeat(40)),
        audience: member(['users'], ['operators', 'users'], ['operators']),
        accounts: member('linked', 'verified_email', 'create'),
        role_claim: member('groups'),
        roles: member<object>({ staff: 'viewer', constructor: 'admin' }, {}, { a: 'toString' }),
        scope: member('openid', 'openid email groups'),
        token_endpoint_auth_method: member('client_secret_basic', 'client_secret_post'),
        private_key: member<unknown>(undefined),
        trust_email: member<unknown>(true, ['mail.example']),
        step_up: member('max_age=0', 'prompt=login'),
        acr_values: member(['mfa']),
        amr_values: member(['mfa', 'hwk']),
      },
      { requiredKeys: ['id', 'label', 'issuer', 'client_id', 'client_secret', 'audience', 'accounts'] },
    );
    always(
      fc.property(fc.array(provider, { minLength: 1, maxLength: 2 }), (list) => {
        try {
          const read = parseIdentityProviders(JSON.stringify(list));
          return read.every(
            ({ id, issuer, audience, roles, roleClaim }, n) =>
              id === list[n]!.id &&
              (issuer.protocol === 'https:' || isLoopbackHost(issuer.hostname)) &&
              audience.length > 0 &&
              roles.size > 0 === (roleClaim !== undefined),
          );
        } catch (error) {
          const { message } = error as Error;
          return /^(provider \d: |must )/.test(message) && !message.includes('x'.repeat(40));
        }
      }),
    );
  });

  it('become whole numbers, lists and an origin, whatever the text', async () => {
    const numbers = fc.record({
      PORT: fc.oneof(value(), fc.integer({ min: 1, max: 65_535 }).map(String)),
      BASE_URL: value(),
      WEBHOOK_RETRY_SCHEDULE_SECONDS: fc.oneof(
        value(),
        fc.array(fc.integer({ min: 1, max: 604_800 }), { minLength: 1 }).map(String),
      ),
    });
    const rest = { DATABASE_URL: 'postgres://a/b', ENCRYPTION_KEY: Buffer.alloc(32, 'k').toString('base64') };
    await alwaysAsync(
      fc.asyncProperty(numbers, async (source) => {
        if (!read({ ...source, ...rest })) return true;
        const { port, baseUrl, webhookRetrySchedule, encryptionKeys } = await loadSettings({
          ...source,
          ...rest,
        });
        return (
          Number.isInteger(port) &&
          port >= 1 &&
          port <= 65_535 &&
          /^https?:\/\/[^/?#@]+$/.test(baseUrl) &&
          new URL(baseUrl).origin === baseUrl &&
          webhookRetrySchedule.every((wait) => Number.isInteger(wait) && wait >= 1 && wait <= 604_800) &&
          encryptionKeys[0]!.length === 32
        );
      }),
    );
  });

  it('that are accepted also work for those that use them: proxies, the database, Redis', () => {
    always(
      fc.property(value(), value(), value(), (TRUSTED_PROXIES, DATABASE_URL, REDIS_URL) => {
        const proxies = read({ TRUSTED_PROXIES })?.TRUSTED_PROXIES;
        if (proxies !== undefined) fastify({ trustProxy: splitList(proxies) });
        const database = read({ NODE_ENV: 'test', DATABASE_URL })?.DATABASE_URL;
        if (database !== undefined) connectionOptions(database);
        const redis = read({ REDIS_URL })?.REDIS_URL;
        if (redis !== undefined) redisOf(redis);
      }),
    );
  });
});

/** Disconnects at once, so that no connection keeps trying. */
function redisOf(url: string): void {
  const redis = connectRedis(url);
  redis.on('error', () => undefined);
  redis.disconnect();
}

describe('A key', () => {
  it('of 32 bytes is read from both base64 alphabets, with or without padding, and from nothing else', () => {
    always(
      fc.property(fc.uint8Array({ minLength: 30, maxLength: 34 }), (bytes) => {
        const key = Buffer.from(bytes);
        const forms = [
          key.toString('base64'),
          key.toString('base64url'),
          key.toString('base64').replace(/=+$/, ''),
        ];
        return forms.every((text) =>
          key.length === 32 ? parseEncryptionKey(text)?.equals(key) : parseEncryptionKey(text) === undefined,
        );
      }),
    );
    always(fc.property(oddText(), (text) => [undefined, 32].includes(parseEncryptionKey(text)?.length)));
  });
});

describe('The parsers', () => {
  it('of lists drop only blank entries', () => {
    always(
      fc.property(fc.array(oddText()), (parts) => {
        const wanted = parts
          .join(',')
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== '');
        return JSON.stringify(splitList(parts.join(', '))) === JSON.stringify(splitList(wanted.join(' ,')));
      }),
    );
  });

  it('of URLs and hosts never throw', () => {
    always(
      fc.property(
        value(),
        fc.option(value(), { nil: undefined }),
        (text, base) =>
          [true, false].includes(isUrl(text, base)) && [true, false].includes(isLoopbackHost(text)),
      ),
    );
  });
});
