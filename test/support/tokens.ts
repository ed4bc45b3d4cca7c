import { createSecretKey, randomBytes, type KeyObject } from 'node:crypto';
import { AuditService } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { newId } from '#platform/secrets/ids.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import {
  openAccessToken,
  openRefreshToken,
  writeAccessToken,
  writeRefreshToken,
  type AccessTokenRecord,
  type RefreshTokenRecord,
} from '#access/tokens/keys/token-record.js';
import { TokenKeysRepository } from '#access/tokens/keys/token-keys.repository.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import type { TestDatabase } from './test-database.js';
import type { TestInstance } from './test-service.js';

// With the key of every instance under test (test-service.ts).
const BOX = new SealedBox('token key', [Buffer.alloc(32, 'k')]);

/** Anything with access to the service's database. */
export interface WithDatabase {
  database: Pick<TestDatabase, 'query'>;
}

/** A well-formed token that the service did not sign. */
export function strangeToken(kind: 'access' | 'refresh'): string {
  const [keyId, secret] = [1, createSecretKey(randomBytes(32))];
  if (kind === 'refresh') return writeRefreshToken({ keyId, grantId: newId('grnt'), generation: 0 }, secret);
  const now = Date.now();
  const record = {
    kind: 'client',
    keyId,
    id: randomBytes(16).toString('hex'),
    clientId: newId('clnt'),
    epoch: 0,
    stamp: { era: 1, position: 1 },
    issuedAt: now,
    expiresAt: now + 36_000_000,
    scopes: [],
  } as const;
  return writeAccessToken(record, secret);
}

/** The keys that sign tokens, from the database and the settings. */
export async function tokenKeysOf({ database }: WithDatabase): Promise<Map<number, KeyObject>> {
  const rows = await database.query<{ id: number; sealed: Buffer }>(
    'SELECT id::float8 AS id, sealed FROM token_keys',
  );
  return new Map(
    rows.map(({ id, sealed }) => [
      id,
      createSecretKey(Buffer.from(BOX.open(sealed, `token key ${id}`)!, 'base64')),
    ]),
  );
}

/** The keys as another instance on the same database has them, which starts with these settings. */
export async function keysAtStart(
  { app, settings }: Pick<TestInstance, 'app' | 'settings'>,
  others: Partial<Settings> = {},
): Promise<TokenKeysService> {
  const keys = new TokenKeysService(
    app.get(TokenKeysRepository),
    Object.assign(new Settings(), settings, others),
    app.get(AccessChanges),
    app.get(Transactions),
    app.get(AuditService),
  );
  await keys.onApplicationBootstrap();
  return keys;
}

/** The record in an access token of the service. */
export async function accessRecordOf(service: WithDatabase, token: string): Promise<AccessTokenRecord> {
  const keys = await tokenKeysOf(service);
  const opened = openAccessToken(token, (id) => keys.get(id));
  if ('refused' in opened) throw new Error(`not an access token of the service: ${opened.refused}`);
  return opened.record;
}

/** The record in a refresh token of the service. */
export async function refreshRecordOf(service: WithDatabase, token: string): Promise<RefreshTokenRecord> {
  const keys = await tokenKeysOf(service);
  const opened = openRefreshToken(token, (id) => keys.get(id));
  if ('refused' in opened) throw new Error(`not a refresh token of the service: ${opened.refused}`);
  return opened.record;
}

/** The same access token with another lifetime, signed with the service's own key: it expires in this many seconds. */
export async function endingIn(service: WithDatabase, token: string, seconds: number): Promise<string> {
  const record = await accessRecordOf(service, token);
  const [{ now }] = (await service.database.query(
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  )) as [{ now: number }];
  const expiresAt = now + seconds * 1000;
  const issuedAt = record.issuedAt + expiresAt - record.expiresAt;
  return writeAccessToken(
    { ...record, issuedAt, expiresAt },
    (await tokenKeysOf(service)).get(record.keyId)!,
  );
}

/** The lifetime of an access token in seconds. */
export async function lifetimeOf(service: WithDatabase, token: string): Promise<number> {
  const { issuedAt, expiresAt } = await accessRecordOf(service, token);
  return (expiresAt - issuedAt) / 1000;
}

/** Changes the grant of a refresh token, in SQL. */
export async function changeGrant(service: WithDatabase, token: string, change: string): Promise<void> {
  const { grantId } = await refreshRecordOf(service, token);
  await service.database.query(`UPDATE grants SET ${change} WHERE id = $1`, [grantId]);
}

/** Ends the grace time of every token that the grant has retired. */
export const endGrace = (service: WithDatabase, token: string): Promise<void> =>
  changeGrant(
    service,
    token,
    "rotations = ARRAY(SELECT at - interval '1 hour' FROM unnest(rotations) WITH ORDINALITY AS r (at, n) ORDER BY n)",
  );
