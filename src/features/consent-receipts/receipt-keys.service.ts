import { Injectable } from '@nestjs/common';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type CryptoKey,
  type JWTPayload,
} from 'jose';
import { Settings } from '#platform/config/settings.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { Resealed } from '#platform/database/domain/platform-questions.js';
import { ed25519Jwk, publishedKey, type PublishedKey } from '#platform/http/api/published-key.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import type { ReceiptKeyEntity } from './receipt-key.entity.js';
import { ReceiptKeysRepository } from './receipt-keys.repository.js';

const ROTATE_AFTER_MS = 365 * 86_400_000;
// How long this instance signs with a key before it checks for a newer one.
const KNOWN_FOR_MS = 600_000;

/** A key that signs receipts. */
export interface ReceiptKey {
  id: string;
  privateKey: CryptoKey;
}

/**
 * The keys that sign receipts (Ed25519). The first receipt creates one, and a new one follows each year. The private part is
 * stored sealed under `ENCRYPTION_KEY`; the public parts stay published, so that old receipts can still be verified.
 */
@Injectable()
export class ReceiptKeysService {
  private readonly box: SealedBox;
  private known: { key: ReceiptKey; until: number } | undefined;

  constructor(
    private readonly repository: ReceiptKeysRepository,
    settings: Settings,
  ) {
    this.box = new SealedBox('receipt key', settings.encryptionKeys);
  }

  /** The key to sign with. */
  async signing(): Promise<ReceiptKey> {
    if (this.known && Date.now() < this.known.until) return this.known.key;
    return outsideTransaction(() => this.findOrMake());
  }

  /** A JWT with these claims, whose `typ` keeps it apart from receipts (RFC 8725 §3.11). */
  async signJwt(claims: JWTPayload, typ: string): Promise<string> {
    const { id: kid, privateKey } = await this.signing();
    return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid, typ }).sign(privateKey);
  }

  private async findOrMake(): Promise<ReceiptKey> {
    let found = await this.repository.signing();
    if (found && (Date.now() - found.createdAt.getTime() > ROTATE_AFTER_MS || !this.open(found))) {
      await this.repository.retire(found.id);
      found = null;
    }
    if (!found) {
      await this.make();
      // If several instances made one at the same time, only one was stored.
      found = (await this.repository.signing())!;
    }
    const jwk = { ...ed25519Jwk(found.publicKey), d: this.open(found)! };
    const key = { id: found.id, privateKey: (await importJWK(jwk, 'EdDSA')) as CryptoKey };
    this.known = { key, until: Date.now() + KNOWN_FOR_MS };
    return key;
  }

  /** The public keys, as a JWK Set (RFC 7517). */
  async published(): Promise<{ keys: PublishedKey[] }> {
    const keys = await this.repository.all();
    return {
      keys: keys.map(({ id, publicKey }) => publishedKey(publicKey, id)),
    };
  }

  /** Seals every key under the current `ENCRYPTION_KEY`. Returns how many were resealed, and which cannot be decrypted. */
  @Answers('sealed.reseal')
  async reseal(): Promise<Resealed> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (const key of await this.repository.allSealed()) {
      if (this.box.isCurrent(key.sealed, boundTo(key.id))) continue;
      const secret = this.open(key);
      if (secret === undefined) unreadable.push(`receipt key ${key.id}`);
      else if (
        await this.repository.replaceSealed(key.id, key.sealed, this.box.seal(secret, boundTo(key.id)))
      )
        resealed++;
    }
    return { resealed, unreadable };
  }

  private async make(): Promise<void> {
    const { privateKey } = await generateKeyPair('EdDSA', { extractable: true });
    const { x, d } = await exportJWK(privateKey);
    const publicKey = Buffer.from(x!, 'base64url');
    const id = await calculateJwkThumbprint(ed25519Jwk(publicKey));
    await this.repository.insert({ id, publicKey, sealed: this.box.seal(d!, boundTo(id)) });
  }

  private open({ id, sealed }: ReceiptKeyEntity): string | undefined {
    return this.box.open(sealed, boundTo(id));
  }
}

/** What a sealed key is bound to, so that it cannot be swapped for another. */
const boundTo = (id: string): string => `receipt key ${id}`;
