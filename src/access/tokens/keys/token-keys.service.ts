import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { createSecretKey, randomBytes, randomInt, type KeyObject } from 'node:crypto';
import { ACCESS_TOKEN_LIFETIME } from '#access/clients/client-rules.js';
import { AuditService, SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { batched } from '#platform/database/queries/batched.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { notFound } from '#platform/http/problems/problem.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { TokenKeyEntity } from './token-key.entity.js';
import { TokenKeysRepository } from './token-keys.repository.js';
import type { KeySecrets, Opened } from './token-record.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';

const KEY_BYTES = 32;
const ROTATE_AFTER_DAYS = 90;
/** The id under which the database records a change of the keys (migrations/1764000000005-access-changes.ts). */
export const TOKEN_KEYS_CHANGED = ['token keys'];

/** A key in use. */
export interface TokenKey {
  id: number;
  secret: KeyObject;
}

/** A key as an operator sees it. */
export interface TokenKeyInfo {
  id: number;
  state: 'signs' | 'verifies' | 'revoked';
  createdAt: Date;
}

/** The keys as read at one moment. */
interface Loaded {
  position: number;
  signing: TokenKey;
  /** Includes revoked keys: their tokens are recognized and refused. */
  secrets: Map<number, KeyObject>;
  revoked: Set<number>;
}

/**
 * The keys that tokens are signed with. The first instance that starts creates one, it is rotated every 90 days, and it is stored
 * in the database sealed under `ENCRYPTION_KEY`, so that neither the database nor the settings alone can make a token.
 */
@Injectable()
export class TokenKeysService implements OnApplicationBootstrap {
  private readonly logger = new Logger(TokenKeysService.name);
  private readonly box: SealedBox;
  private loaded: Loaded | undefined;
  /** Calls made while a read is running share the next read. */
  private readonly looks = batched<'keys', Loaded>(async (asked) => {
    const loaded = await this.read();
    return asked.map(() => loaded);
  });

  constructor(
    private readonly repository: TokenKeysRepository,
    private readonly settings: Settings,
    private readonly changes: AccessChanges,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {
    this.box = new SealedBox('token key', settings.encryptionKeys);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.load();
    await this.rotateWhenOld();
  }

  /** The key to sign with. */
  async signing(): Promise<TokenKey> {
    const known = this.known ?? (await this.load());
    return known.signing;
  }

  /** The secret of a key that signed a token; undefined if there is no such key, or it cannot be decrypted. */
  secretOf(id: number): KeyObject | undefined {
    return this.loaded?.secrets.get(id);
  }

  /** Opens a token with `read`. If its key is unknown to this instance, it catches up with the changes and tries again. */
  async open<Record>(
    token: string,
    read: (token: string, secrets: KeySecrets) => Opened<Record>,
  ): Promise<Opened<Record>> {
    const secrets = (id: number) => this.secretOf(id);
    const opened = read(token, secrets);
    if (!('refused' in opened) || opened.refused !== 'unknown_key') return opened;
    await this.refresh();
    return read(token, secrets);
  }

  /** Loads the keys again if they have changed. */
  async refresh(): Promise<void> {
    await this.changes.catchUp();
    if (!this.known) await this.load();
  }

  /** Whether a key is revoked. Not reliable while changes may be missing. */
  async isRevoked(id: number): Promise<boolean> {
    const known = this.known ?? (await this.load());
    return known.revoked.has(id);
  }

  /** Whether a key is revoked, as far as this instance knows; undefined if the keys have changed since. */
  isKnownRevoked(id: number): boolean | undefined {
    return this.unchanged?.revoked.has(id);
  }

  /** All keys, newest first. */
  async list(): Promise<TokenKeyInfo[]> {
    const rows = await this.repository.all();
    return rows.map(({ id, createdAt, retiredAt, revokedAt }) => ({
      id,
      state: revokedAt ? 'revoked' : retiredAt ? 'verifies' : 'signs',
      createdAt,
    }));
  }

  /** Creates a new key and returns its id. Older keys still verify. */
  async rotate(actor: Actor = SERVICE_ACTOR): Promise<number> {
    await this.replace(0, actor);
    return (await this.load()).signing.id;
  }

  /**
   * Revokes a key, and with it every token that it signed, immediately and on every instance. Throws a 404 problem if there is
   * nothing to revoke.
   */
  async revoke(id: number, actor: Actor = SERVICE_ACTOR): Promise<void> {
    await this.transactions.run(async () => {
      const isId = Number.isInteger(id) && id > 0 && id < 2 ** 32;
      if (!isId || !(await this.repository.revoke(id))) {
        throw notFound('There is no token key with this id, or it is already revoked.');
      }
      await this.make();
      await this.record('token_key.revoked', id, actor);
    });
    await this.load();
  }

  /** Seals every key under the current `ENCRYPTION_KEY`. Returns how many were resealed, and which cannot be decrypted. */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (const { id, sealed } of await this.repository.all()) {
      const bytes = this.unsealed(id, sealed);
      if (!bytes) unreadable.push(`token key ${id}`);
      else if (await this.repository.replaceSealed(id, sealed, this.seal(id, bytes))) resealed++;
    }
    return { resealed, unreadable };
  }

  /** Revokes the keys that no configured `ENCRYPTION_KEY` can decrypt, because the key that sealed them is lost. */
  async revokeUnreadable(): Promise<void> {
    for (const { id, sealed, revokedAt } of await this.repository.all()) {
      if (!revokedAt && !this.unsealed(id, sealed)) await this.revoke(id);
    }
  }

  /** Creates a new key if the one that signs is old. */
  async rotateWhenOld(): Promise<void> {
    await this.replace(ROTATE_AFTER_DAYS, SERVICE_ACTOR).catch((error: Error) =>
      this.logger.warn(`The token key could not be rotated: ${error.message}`),
    );
  }

  /** The loaded keys, as long as they can be relied on. */
  private get known(): Loaded | undefined {
    return this.changes.isTrusted ? this.unchanged : undefined;
  }

  private get unchanged(): Loaded | undefined {
    const { loaded } = this;
    return loaded && !this.changes.hasChanged(loaded.position, TOKEN_KEYS_CHANGED) ? loaded : undefined;
  }

  private load(): Promise<Loaded> {
    return outsideTransaction(() => this.looks('keys'));
  }

  private async read(): Promise<Loaded> {
    const { position } = this.changes;
    const rows = await this.repository.all();
    const signing = rows.find(({ retiredAt }) => !retiredAt);
    if (!signing) {
      await this.make();
      return this.read();
    }
    await this.noteLifetimes(signing);
    const secrets = new Map(
      rows.flatMap(({ id, sealed }) => {
        // The secret of a key never changes.
        const known = this.secretOf(id);
        const bytes = known ? undefined : this.unsealed(id, sealed);
        return known ? [[id, known] as const] : bytes ? [[id, createSecretKey(bytes)] as const] : [];
      }),
    );
    const secret = secrets.get(signing.id);
    if (!secret) {
      throw new Error(
        `ENCRYPTION_KEY and ENCRYPTION_KEYS_PREVIOUS do not decrypt the token key ${signing.id} of this database`,
      );
    }
    const revoked = new Set(rows.filter(({ revokedAt }) => revokedAt).map(({ id }) => id));
    const loaded = { position, signing: { id: signing.id, secret }, secrets, revoked };
    // Keep what is loaded if a read that started later has finished first.
    if (position >= (this.loaded?.position ?? 0)) this.loaded = loaded;
    return loaded;
  }

  /** Must run before anything is signed, because these lifetimes decide how long changes and keys are kept. */
  private async noteLifetimes({ id, accessTtl, grantTtl }: TokenKeyEntity): Promise<void> {
    const wanted = this.lifetimes;
    if (accessTtl < wanted.accessTtl || grantTtl < wanted.grantTtl) {
      await this.repository.raiseLifetimes(id, wanted);
    }
  }

  private async replace(olderThanDays: number, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      if (!(await this.repository.retire(olderThanDays))) return;
      const id = await this.make();
      if (id !== undefined) await this.record('token_key.rotated', id, actor);
    });
  }

  /** Creates a key unless there is a signing key; returns its id. */
  private async make(): Promise<number | undefined> {
    const id = randomInt(1, 2 ** 32);
    const sealed = this.seal(id, randomBytes(KEY_BYTES));
    return (await this.repository.insert(id, sealed, this.lifetimes)) ? id : undefined;
  }

  private get lifetimes() {
    const { accessTokenTtl, grantTtl } = this.settings;
    // A client may have its own.
    return { accessTtl: Math.max(accessTokenTtl, ACCESS_TOKEN_LIFETIME.max), grantTtl };
  }

  private seal(id: number, bytes: Buffer): Buffer {
    return this.box.seal(bytes.toString('base64'), sealedFor(id));
  }

  private unsealed(id: number, sealed: Buffer): Buffer | undefined {
    const text = this.box.open(sealed, sealedFor(id));
    return text === undefined ? undefined : Buffer.from(text, 'base64');
  }

  private record(action: string, id: number, actor: Actor): Promise<void> {
    return this.audit.record(actor, { action, subjectType: 'token_key', subjectId: String(id) });
  }
}

/** The context that a sealed key is bound to, so that it cannot be swapped for another. */
export const sealedFor = (id: number): string => `token key ${id}`;

/** Replaces a token key that is old; looks every hour. */
@Injectable()
export class TokenKeyRotationWorker extends PeriodicWorker {
  constructor(
    private readonly keys: TokenKeysService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    const failure = 'The token key could not be rotated';
    super({ everyMs: 3_600_000, failure, isEverywhere: true }, settings, schema);
  }

  protected work(): Promise<void> {
    return this.keys.rotateWhenOld();
  }
}
