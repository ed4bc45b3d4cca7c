import { Injectable } from '@nestjs/common';
import { calculateJwkThumbprint } from 'jose';
import { LRUCache } from 'lru-cache';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { Resealed } from '#platform/database/domain/platform-questions.js';
import { isForeignKeyViolation } from '#platform/database/queries/database-errors.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { ed25519Jwk, publishedKey, type PublishedKey } from '#platform/http/api/published-key.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { WebhookKeyEntity } from './webhook-key.entity.js';
import { WebhookKeysRepository } from './webhook-keys.repository.js';

/** How long an instance signs with the keys that it has read: far shorter than the overlap of a rotation. */
const KNOWN_MS = 60_000;
const BATCH = 500;

/** The key pairs of clients for signatures that need no shared secret (`v1a`, contract §22). Private parts are stored sealed. */
@Injectable()
export class WebhookKeys {
  private readonly box: SealedBox;
  private readonly known = new LRUCache<string, KeyObject[]>({ max: 1000, ttl: KNOWN_MS });

  constructor(
    private readonly repository: WebhookKeysRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    settings: Settings,
  ) {
    this.box = new SealedBox('webhook signing key', settings.encryptionKeys);
  }

  /** The private keys that sign for a client, the newest first; none if no configured key can decrypt them. */
  async signing(clientId: string): Promise<KeyObject[]> {
    const known = this.known.get(clientId);
    if (known) return known;
    const keys = (await outsideTransaction(() => this.liveOf(clientId))).flatMap(
      (key) => this.open(key) ?? [],
    );
    if (keys.length > 0) this.known.set(clientId, keys);
    return keys;
  }

  /** The public keys of a client that sign now, the newest first; makes none. */
  async published(clientId: string): Promise<PublishedKey[]> {
    return (await this.repository.live(clientId)).map(published);
  }

  /** Makes the first key of a client, if it has none: in the transaction that needs it. */
  async make(clientId: string): Promise<void> {
    await this.repository.insertFirst({ clientId, ...(await this.newKey()) });
  }

  /** Puts a new key in the place of this one, which signs for 24 hours more; does nothing if it was replaced before. */
  async rotateOnce(clientId: string, present: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      if (!(await this.repository.retire(clientId, present))) return;
      const key = await this.newKey();
      await this.repository.insertFirst({ clientId, ...key });
      await this.audit.record(actor, {
        action: 'client.webhook_key_rotated',
        subjectId: clientId,
        before: { webhook_key: present },
        after: { webhook_key: key.id },
      });
    });
    this.known.delete(clientId);
  }

  /** Seals every key under the current `ENCRYPTION_KEY`. */
  @Answers('sealed.reseal')
  async reseal(): Promise<Resealed> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.repository.after(after, BATCH);
      for (const { id, sealed } of batch) {
        if (this.box.isCurrent(sealed, id)) continue;
        const text = this.box.open(sealed, id);
        if (text === undefined) unreadable.push(`webhook signing key ${id}`);
        else if (await this.repository.replaceSealed(id, sealed, this.box.seal(text, id))) resealed++;
      }
      if (batch.length < BATCH) return { resealed, unreadable };
      after = batch.at(-1)!.id;
    }
  }

  private async liveOf(clientId: string): Promise<WebhookKeyEntity[]> {
    const found = await this.repository.live(clientId);
    if (found.some(({ retiredAt }) => retiredAt === null)) return found;
    try {
      await this.make(clientId);
    } catch (error) {
      // The client was deleted in the meantime.
      if (!isForeignKeyViolation(error)) throw error;
    }
    return this.repository.live(clientId);
  }

  private async newKey(): Promise<Pick<WebhookKeyEntity, 'id' | 'publicKey' | 'sealed'>> {
    const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    const publicKey = Buffer.from(x!, 'base64url');
    const id = await calculateJwkThumbprint(ed25519Jwk(publicKey));
    return { id, publicKey, sealed: this.box.seal(d!, id) };
  }

  private open({ id, publicKey, sealed }: WebhookKeyEntity): KeyObject | undefined {
    const d = this.box.open(sealed, id);
    if (d === undefined) return undefined;
    return createPrivateKey({ key: { ...ed25519Jwk(publicKey), d }, format: 'jwk' });
  }
}

const published = ({ id, publicKey }: WebhookKeyEntity): PublishedKey => publishedKey(publicKey, id);

/** As Standard Webhooks writes it: `whpk_` and the 32 bytes in base64. */
export const writtenKey = ({ x }: PublishedKey): string =>
  `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
