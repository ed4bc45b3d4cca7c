import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { KeyObject } from 'node:crypto';
import { Settings } from '#platform/config/settings.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { makeEndpointSecret, signingKeyOf } from '../signing/sign-delivery.js';
import type { EndpointHeaders, HeaderChanges } from './endpoint-headers.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

/** How long a decrypted secret stays in memory. */
const OPENED_MS = 60_000;

/** A secret in clear text, and the key that signs with it. */
interface OpenedSecret {
  secret: string;
  key: KeyObject;
}

/** Headers to be stored. */
interface ChangedHeaders {
  headerNames: string[];
  sealedHeaders: Buffer | null;
  changed: string[] | undefined;
}

/** The signing secrets of endpoints and the values of their headers, which are stored sealed (contract §1, §22). */
@Injectable()
export class EndpointSecrets {
  private readonly secrets: SealedBox;
  private readonly headers: SealedBox;
  /** Those of a busy queue, which are not decrypted for each delivery, by their endpoint and sealed form. */
  private readonly opened = new LRUCache<string, OpenedSecret>({ max: 1000, ttl: OPENED_MS });

  constructor({ encryptionKeys }: Settings) {
    this.secrets = new SealedBox('webhook endpoint secret', encryptionKeys);
    this.headers = new SealedBox('webhook endpoint headers', encryptionKeys);
  }

  /** A new secret, in clear text and sealed. */
  make(endpointId: string): { secret: string; sealed: Buffer } {
    const secret = makeEndpointSecret();
    return { secret, sealed: this.secrets.seal(secret, endpointId) };
  }

  /** The secret in clear text; undefined if no configured key can decrypt it. */
  open(endpointId: string, sealed: Buffer): string | undefined {
    return this.openKept(endpointId, sealed)?.secret;
  }

  /** The same secret sealed under the current key; undefined if no configured key can decrypt it. */
  resealed(endpointId: string, sealed: Buffer): Buffer | undefined {
    const secret = this.open(endpointId, sealed);
    return secret === undefined ? undefined : this.secrets.seal(secret, endpointId);
  }

  /** The headers as stored. */
  sealHeaders(endpointId: string, headers: EndpointHeaders): Buffer {
    return this.headers.seal(JSON.stringify(headers), endpointId);
  }

  /** The headers with their values; undefined if no configured key can decrypt them. */
  openHeaders(endpointId: string, sealed: Buffer | null): EndpointHeaders | undefined {
    if (sealed === null) return {};
    const text = this.headers.open(sealed, endpointId);
    return text === undefined ? undefined : (JSON.parse(text) as EndpointHeaders);
  }

  /**
   * All headers after a change, sealed, and the names of those with another value; `changed` is undefined if nothing changes.
   * Throws a 400 problem if a value to be kept does not exist, or cannot be decrypted.
   */
  changedHeaders(endpointId: string, present: Buffer | null, changes: HeaderChanges): ChangedHeaders {
    const had = this.openHeaders(endpointId, present) ?? {};
    const missing: Violation[] = [];
    const headers = new Map<string, string>();
    for (const [typed, value] of Object.entries(changes)) {
      const name = typed.toLowerCase();
      const kept = value ?? (Object.hasOwn(had, name) ? had[name] : undefined);
      if (kept === undefined) missing.push(violation('missing_header_value', { name }));
      else headers.set(name, kept);
    }
    if (missing.length > 0) throw validationFailed({ headers: missing });
    const headerNames = [...headers.keys()];
    const changed = headerNames.filter(
      (name) => !Object.hasOwn(had, name) || had[name] !== headers.get(name),
    );
    const isSame = changed.length === 0 && headerNames.join() === Object.keys(had).join();
    const isReadable = present === null || Object.keys(had).length > 0;
    return {
      headerNames,
      sealedHeaders: headers.size === 0 ? null : this.sealHeaders(endpointId, Object.fromEntries(headers)),
      changed: isSame && isReadable ? undefined : changed,
    };
  }

  /** The keys of the sealed secrets that can be decrypted, in their order. */
  signingKeys(endpointId: string, sealed: (Buffer | null)[]): KeyObject[] {
    return sealed.flatMap((one) => (one && this.openKept(endpointId, one)?.key) ?? []);
  }

  private openKept(endpointId: string, sealed: Buffer): OpenedSecret | undefined {
    const place = `${endpointId} ${sealed.toString('latin1')}`;
    const known = this.opened.get(place);
    if (known !== undefined) return known;
    const secret = this.secrets.open(sealed, endpointId);
    if (secret === undefined) return undefined;
    const opened = { secret, key: signingKeyOf(secret) };
    this.opened.set(place, opened);
    return opened;
  }
}
