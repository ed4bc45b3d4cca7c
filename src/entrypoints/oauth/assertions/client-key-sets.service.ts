import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { calculateJwkThumbprint, createLocalJWKSet } from 'jose';
import { LRUCache } from 'lru-cache';
import { Agent, request } from 'undici';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import { keyRefusal, type Jwk } from '#access/clients/keys/jwk-set.js';
import { checkEndpointAddress, checkEndpointUrl } from '#events/webhooks/http/endpoint-url.js';
import { GuardedConnector } from '#events/webhooks/http/guarded-connector.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { Violation } from '#platform/http/problems/violation.js';
import { Settings } from '#platform/config/settings.js';
import { bodyUpTo } from '#platform/http/received-body.js';
import { detached } from '#platform/telemetry/log-scope.js';

// Contract §4: for the whole answer, and its size.
const TIMEOUT_MS = 5_000;
const BODY_MAX_BYTES = 64 * 1024;
const KEYS_MAX = 20;
/** Keys are fetched again after this time: one that was removed verifies no longer. */
const FRESH_MS = 5 * 60_000;
/** If they cannot be fetched, they count for so long. */
const KEPT_MS = 60 * 60_000;
/** The least time between two requests to one address. */
const PAUSE_MS = 10_000;
const ADDRESSES_KEPT = 2_000;

/** A public key that may verify an assertion. */
export interface VerificationKey {
  kid: string | undefined;
  thumbprint: Buffer;
  /** The key for an assertion with this header; throws if it is for another algorithm. */
  get: ReturnType<typeof createLocalJWKSet>;
}

/** What is known of one address. */
interface Fetched {
  keys: VerificationKey[] | undefined;
  fetchedAt: number;
  triedAt: number;
  underWay: Promise<void> | undefined;
}

/** The public keys of clients: registered ones, or those at their address, which are fetched and remembered. */
@Injectable()
export class ClientKeySets implements OnApplicationShutdown {
  private readonly logger = new Logger(ClientKeySets.name);
  /** By the registered set, which is remembered together with its client. */
  private readonly registered = new WeakMap<object, Promise<VerificationKey[]>>();
  private readonly fetched = new LRUCache<string, Fetched>({ max: ADDRESSES_KEPT });
  private readonly connections: Agent;

  constructor(private readonly settings: Settings) {
    const connector = new GuardedConnector(this.rules);
    this.connections = new Agent({
      connect: (target, callback) => void connector.connect(target, callback),
      pipelining: 0,
    });
  }

  @Answers('client.key_address_violation')
  async violationOf(address: string): Promise<Violation | undefined> {
    const checked = checkEndpointUrl(address, this.rules);
    return checked.url === undefined ? checked.reason : checkEndpointAddress(checked.url, this.rules);
  }

  /** The keys of a client; undefined if they cannot be had. */
  of({ jwks, jwksUri }: Pick<KnownClient, 'jwks' | 'jwksUri'>): Promise<VerificationKey[] | undefined> {
    if (jwksUri !== null) return this.at(jwksUri, FRESH_MS);
    if (jwks === null) return Promise.resolve([]);
    const known = this.registered.get(jwks) ?? Promise.all(jwks.keys.map(prepared));
    this.registered.set(jwks, known);
    return known;
  }

  /** The same, asked for again unless that was done within the last 10 seconds: an assertion names a key that is not known yet. */
  async again(client: Pick<KnownClient, 'jwks' | 'jwksUri'>): Promise<VerificationKey[] | undefined> {
    return client.jwksUri === null ? this.of(client) : this.at(client.jwksUri, PAUSE_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.connections.destroy();
  }

  private get rules() {
    return { allowPrivateAddresses: this.settings.webhookAllowPrivateAddresses };
  }

  /** The keys at an address, no older than this if they can be had. */
  private async at(address: string, age: number): Promise<VerificationKey[] | undefined> {
    const known: Fetched = this.fetched.get(address) ?? {
      ...{ keys: undefined, underWay: undefined },
      ...{ fetchedAt: -Infinity, triedAt: -Infinity },
    };
    this.fetched.set(address, known);
    if (performance.now() - known.fetchedAt >= age && performance.now() - known.triedAt >= PAUSE_MS) {
      // On behalf of all who ask meanwhile.
      known.underWay ??= detached(() => this.fetch(address, known));
    }
    await known.underWay;
    return performance.now() - known.fetchedAt < KEPT_MS ? known.keys : undefined;
  }

  private async fetch(address: string, known: Fetched): Promise<void> {
    try {
      const checked = checkEndpointUrl(address, this.rules);
      if (checked.url === undefined) throw new Error('the address is not allowed');
      const text = await this.read(checked.url);
      known.keys = await keysIn(text);
      known.fetchedAt = performance.now();
    } catch (error) {
      this.logger.warn(`The keys of a client could not be fetched: ${(error as Error).message}`);
    } finally {
      known.triedAt = performance.now();
      known.underWay = undefined;
    }
  }

  private async read(url: string): Promise<string> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error('no answer within 5 seconds')), TIMEOUT_MS);
    try {
      const { statusCode, body } = await request(url, {
        dispatcher: this.connections,
        headers: { accept: 'application/jwk-set+json, application/json' },
        signal: abort.signal,
      });
      const text = await bodyUpTo(BODY_MAX_BYTES, body);
      if (!text) throw new Error('the answer is larger than 64 kB');
      // A redirect is not followed.
      if (statusCode !== 200) throw new Error(`the status was ${statusCode}`);
      return text.toString();
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The keys of a set that can be used; others may be for something else. */
async function keysIn(text: string): Promise<VerificationKey[]> {
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error('the answer is no JWK Set');
  const usable = keys.filter((key) => keyRefusal(key) === undefined) as Jwk[];
  return Promise.all(usable.slice(0, KEYS_MAX).map(prepared));
}

async function prepared({ alg: _alg, ...jwk }: Jwk): Promise<VerificationKey> {
  const thumbprint = Buffer.from(await calculateJwkThumbprint(jwk), 'base64url');
  // Its kind says what it is for, whichever name of the algorithm the assertion has.
  return { kid: jwk.kid, thumbprint, get: createLocalJWKSet({ keys: [jwk] }) };
}
