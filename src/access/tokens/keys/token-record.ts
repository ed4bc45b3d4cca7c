import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { Stamp } from '#platform/database/changes/access-changes.service.js';
import { readAdditions, type TokenAdditions } from './token-additions.js';
import { readUlid, ULID_BYTES, writeUlid } from '#platform/secrets/ids.js';

/**
 * Access and refresh tokens: a prefix for secret scanners, then base64url of a record and its authentication tag, HMAC-SHA-256
 * over the record (docs/decisions/0012-tokens-without-rows.md). The contents of a record are only read after its tag was
 * verified, so they were written by this service.
 */
export const TOKEN_PREFIXES = { access: 'cds_at_', refresh: 'cds_rt_' } as const;

const VERSION = 1;
/** Users' tokens of the first build do not say when their grant ends. */
const KINDS = { client: 1, userWithoutEnd: 2, refresh: 3, user: 4, boundClient: 5, boundUser: 6 } as const;
/** Added to the kind of a token that has additions after its scopes. */
const WITH_ADDITIONS = 16;
type Kind = keyof typeof KINDS;
const KIND_OF = new Map((Object.keys(KINDS) as Kind[]).map((kind) => [KINDS[kind] as number, kind]));
const TAG_BYTES = 32;
// Version, kind, id of the key.
const HEAD_BYTES = 6;
const ID_BYTES = 16;
const TIME_BYTES = 6;
// Of the key that a bound token is bound to (RFC 9449), and what makes several tokens of one generation different.
const JKT_BYTES = 32;
const SERIAL_BYTES = 8;
/** The serial of the token that belongs to a generation's pair. */
const NO_SERIAL = '0'.repeat(2 * SERIAL_BYTES);
/** The maximum number of scopes in a token. */
const MOST_SCOPES = 255;
// The fixed part before the scopes: the head, the fields in the order of `write…`, and the number of scopes.
const CLIENT_BYTES = HEAD_BYTES + ID_BYTES + ULID_BYTES + 4 + 4 + 3 * TIME_BYTES + 1;
const USER_WITHOUT_END_BYTES = HEAD_BYTES + ULID_BYTES + 4 + 2 * ULID_BYTES + 4 + 3 * TIME_BYTES + 1;
const USER_BYTES = USER_WITHOUT_END_BYTES + TIME_BYTES;
const FIXED_BYTES = {
  client: CLIENT_BYTES,
  userWithoutEnd: USER_WITHOUT_END_BYTES,
  user: USER_BYTES,
  boundClient: CLIENT_BYTES + JKT_BYTES,
  boundUser: USER_BYTES + JKT_BYTES + SERIAL_BYTES,
} as const;
const REFRESH_BYTES = HEAD_BYTES + ULID_BYTES + 4;

interface AccessRecordBase {
  keyId: number;
  clientId: string;
  stamp: Stamp;
  /** Milliseconds since 1970 by the database's clock. */
  issuedAt: number;
  expiresAt: number;
  /** The scopes' numbers in the catalogue. */
  scopes: readonly number[];
  additions?: TokenAdditions | undefined;
  /** The SHA-256 thumbprint (RFC 7638) of the key that the token is bound to, in base64url; undefined for none. */
  jkt?: string | undefined;
}

/** The contents of a client-credentials token. */
interface ClientTokenRecord extends AccessRecordBase {
  kind: 'client';
  /** A random UUID without dashes. */
  id: string;
  /** The client's `token_epoch` at the time. */
  epoch: number;
}

/** The contents of a user's access token. There is one per generation of a grant, and more for a client that refreshes without rotation. */
interface UserTokenRecord extends AccessRecordBase {
  kind: 'user';
  grantId: string;
  generation: number;
  userId: string;
  /** When the grant ends, as known when the token was issued; milliseconds since 1970. Undefined in tokens of the first build. */
  grantEndsAt: number | undefined;
  /** 16 hexadecimal digits of a bound token from a refresh without rotation. */
  serial?: string | undefined;
}

export type AccessTokenRecord = ClientTokenRecord | UserTokenRecord;

/** The contents of a refresh token. */
export interface RefreshTokenRecord {
  keyId: number;
  grantId: string;
  generation: number;
}

/** The result of opening a token. */
export type Opened<Record> = { record: Record } | { refused: 'malformed' | 'unknown_key' | 'forged' };

/** The secret of a key; undefined for an unknown id. */
export type KeySecrets = (keyId: number) => KeyObject | undefined;

/** The id of an access token in `revoked_access_tokens` and in announcements. */
export const accessTokenId = (record: AccessTokenRecord): string =>
  record.kind === 'client' ? record.id : userTokenId(record);

/** There is one access token per generation of a grant, so this identifies it; any further ones have a serial. */
const userTokenId = ({ grantId, generation, serial }: UserTokenRecord): string =>
  serial === undefined ? `${grantId}.${generation}` : `${grantId}.${generation}.${serial}`;

/** How a record is written. */
function writtenAs(record: AccessTokenRecord): Exclude<Kind, 'refresh'> {
  if (record.kind === 'client') return record.jkt === undefined ? 'client' : 'boundClient';
  if (record.jkt !== undefined) return 'boundUser';
  return record.grantEndsAt === undefined ? 'userWithoutEnd' : 'user';
}

/** The access token with this record. */
export function writeAccessToken(record: AccessTokenRecord, secret: KeyObject): string {
  const { scopes, stamp } = record;
  if (scopes.length > MOST_SCOPES) throw new Error('more scopes than a token can carry');
  const kind = writtenAs(record);
  const fixed = FIXED_BYTES[kind];
  const more = record.additions ? JSON.stringify(record.additions) : '';
  const bytes = Buffer.alloc(fixed + 2 * scopes.length + Buffer.byteLength(more) + TAG_BYTES);
  let at = writeHead(bytes, kind, record.keyId);
  if (record.additions) bytes[1]! += WITH_ADDITIONS;
  if (record.kind === 'client') {
    at += bytes.write(record.id, at, 'hex');
    writeUlid(record.clientId, bytes, at);
    at = bytes.writeUInt32BE(record.epoch, at + ULID_BYTES);
  } else {
    writeUlid(record.grantId, bytes, at);
    at = bytes.writeUInt32BE(record.generation, at + ULID_BYTES);
    writeUlid(record.clientId, bytes, at);
    writeUlid(record.userId, bytes, at + ULID_BYTES);
    at += 2 * ULID_BYTES;
  }
  at = bytes.writeUInt32BE(stamp.era, at);
  for (const number of [stamp.position, record.issuedAt, record.expiresAt]) {
    at = bytes.writeUIntBE(number, at, TIME_BYTES);
  }
  if (record.kind === 'user' && kind !== 'userWithoutEnd') {
    at = bytes.writeUIntBE(record.grantEndsAt!, at, TIME_BYTES);
  }
  if (record.jkt !== undefined) at += bytes.write(record.jkt, at, JKT_BYTES, 'base64url');
  if (kind === 'boundUser') at += bytes.write((record as UserTokenRecord).serial ?? NO_SERIAL, at, 'hex');
  at = bytes.writeUInt8(scopes.length, at);
  for (const scope of scopes) at = bytes.writeUInt16BE(scope, at);
  bytes.write(more, at);
  return sign(TOKEN_PREFIXES.access, bytes, secret);
}

/** The refresh token with this record. */
export function writeRefreshToken(
  { keyId, grantId, generation }: RefreshTokenRecord,
  secret: KeyObject,
): string {
  const bytes = Buffer.alloc(REFRESH_BYTES + TAG_BYTES);
  const at = writeHead(bytes, 'refresh', keyId);
  writeUlid(grantId, bytes, at);
  bytes.writeUInt32BE(generation, at + ULID_BYTES);
  return sign(TOKEN_PREFIXES.refresh, bytes, secret);
}

/** Opens an access token. Anything that this service did not sign is refused without a database query. */
export function openAccessToken(token: string, secrets: KeySecrets): Opened<AccessTokenRecord> {
  const bytes = bytesOf(TOKEN_PREFIXES.access, token);
  const kind = bytes && kindOf(bytes);
  if (!bytes || !kind || kind === 'refresh') return { refused: 'malformed' };
  const fixed = FIXED_BYTES[kind];
  const more = bytes.length - fixed - 2 * bytes[fixed - 1]! - TAG_BYTES;
  if (bytes.length < fixed + TAG_BYTES || (hasAdditions(bytes) ? more <= 0 : more !== 0)) {
    return { refused: 'malformed' };
  }
  return verified(bytes, secrets, (keyId) => readAccessRecord(bytes, kind, keyId));
}

/** The same for a refresh token. */
export function openRefreshToken(token: string, secrets: KeySecrets): Opened<RefreshTokenRecord> {
  const bytes = bytesOf(TOKEN_PREFIXES.refresh, token);
  if (!bytes || kindOf(bytes) !== 'refresh' || bytes.length !== REFRESH_BYTES + TAG_BYTES) {
    return { refused: 'malformed' };
  }
  return verified(bytes, secrets, (keyId) => ({
    keyId,
    grantId: `grnt${readUlid(bytes, HEAD_BYTES)}`,
    generation: bytes.readUInt32BE(HEAD_BYTES + ULID_BYTES),
  }));
}

function readAccessRecord(
  bytes: Buffer,
  kind: Exclude<Kind, 'refresh'>,
  keyId: number,
): AccessTokenRecord | undefined {
  const isOfClient = kind === 'client' || kind === 'boundClient';
  const hasEnd = kind === 'user' || kind === 'boundUser';
  const ids = HEAD_BYTES + (isOfClient ? ID_BYTES : ULID_BYTES + 4);
  const clientId = `clnt${readUlid(bytes, ids)}`;
  const from = ids + ULID_BYTES + (isOfClient ? 4 : ULID_BYTES);
  const times = from + 4;
  const binding = times + (hasEnd ? 4 : 3) * TIME_BYTES;
  const list = FIXED_BYTES[kind] - 1;
  const scopes: number[] = [];
  for (let n = 0; n < bytes[list]!; n++) scopes.push(bytes.readUInt16BE(list + 1 + 2 * n));
  const end = list + 1 + 2 * scopes.length;
  const additions = hasAdditions(bytes) ? readAdditions(bytes.subarray(end, -TAG_BYTES)) : undefined;
  if (hasAdditions(bytes) && !additions) return undefined;
  const base = {
    keyId,
    clientId,
    stamp: { era: bytes.readUInt32BE(from), position: bytes.readUIntBE(times, TIME_BYTES) },
    issuedAt: bytes.readUIntBE(times + TIME_BYTES, TIME_BYTES),
    expiresAt: bytes.readUIntBE(times + 2 * TIME_BYTES, TIME_BYTES),
    scopes,
    additions,
    jkt:
      kind === 'boundClient' || kind === 'boundUser'
        ? bytes.toString('base64url', binding, binding + JKT_BYTES)
        : undefined,
  };
  if (isOfClient) {
    const id = bytes.toString('hex', HEAD_BYTES, HEAD_BYTES + ID_BYTES);
    return { kind: 'client', id, epoch: bytes.readUInt32BE(ids + ULID_BYTES), ...base };
  }
  return {
    kind: 'user',
    grantEndsAt: hasEnd ? bytes.readUIntBE(times + 3 * TIME_BYTES, TIME_BYTES) : undefined,
    serial: kind === 'boundUser' ? serialIn(bytes, binding + JKT_BYTES) : undefined,
    grantId: `grnt${readUlid(bytes, HEAD_BYTES)}`,
    generation: bytes.readUInt32BE(HEAD_BYTES + ULID_BYTES),
    userId: `user${readUlid(bytes, ids + ULID_BYTES)}`,
    ...base,
  };
}

const hasAdditions = (bytes: Buffer): boolean => (bytes[1]! & WITH_ADDITIONS) !== 0;

function serialIn(bytes: Buffer, at: number): string | undefined {
  const serial = bytes.toString('hex', at, at + SERIAL_BYTES);
  return serial === NO_SERIAL ? undefined : serial;
}

function writeHead(bytes: Buffer, kind: Kind, keyId: number): number {
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt8(KINDS[kind], 1);
  return bytes.writeUInt32BE(keyId, 2);
}

/** Appends the tag to the record. */
function sign(prefix: string, bytes: Buffer, secret: KeyObject): string {
  tagOf(bytes.subarray(0, -TAG_BYTES), secret).copy(bytes, bytes.length - TAG_BYTES);
  return prefix + bytes.toString('base64url');
}

const tagOf = (record: Buffer, secret: KeyObject): Buffer =>
  createHmac('sha256', secret).update(record).digest();

/** The bytes after the prefix; undefined unless they are the canonical base64url encoding. */
function bytesOf(prefix: string, token: string): Buffer | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const text = token.slice(prefix.length);
  const bytes = Buffer.from(text, 'base64url');
  return bytes.length > HEAD_BYTES && bytes.toString('base64url') === text ? bytes : undefined;
}

function kindOf(bytes: Buffer): Kind | undefined {
  if (bytes[0] !== VERSION) return undefined;
  const kind = KIND_OF.get(bytes[1]! & ~WITH_ADDITIONS);
  return kind === 'refresh' && hasAdditions(bytes) ? undefined : kind;
}

/** Reads the record after its tag was verified, in constant time. */
function verified<Record>(
  bytes: Buffer,
  secrets: KeySecrets,
  read: (keyId: number) => Record | undefined,
): Opened<Record> {
  const keyId = bytes.readUInt32BE(2);
  const secret = secrets(keyId);
  if (!secret) return { refused: 'unknown_key' };
  const tag = tagOf(bytes.subarray(0, -TAG_BYTES), secret);
  if (!timingSafeEqual(tag, bytes.subarray(-TAG_BYTES))) return { refused: 'forged' };
  const record = read(keyId);
  return record === undefined ? { refused: 'malformed' } : { record };
}
