import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { GuardedHttpClient, TIMEOUT_MS, USER_AGENT } from '../http/guarded-http-client.js';
import type { HttpOutcome } from '../http/http-outcome.js';
import type { ClientCredentials } from './client-credentials.js';
import { tokenIn, type FetchedToken } from './token-answer.js';

/** Contract §22: with the 15 s of a request and of its repetition together, an attempt ends within its lease. */
const TOKEN_TIMEOUT_MS = 5_000;
const UNAUTHORIZED = 401;

/** Whose token is needed. */
export interface ReceiverClient {
  endpointId: string;
  isSandbox: boolean;
  authentication: ClientCredentials;
  /** Tells one secret from another. */
  sealedClientSecret: Buffer;
  clientSecret: string;
}

/** Sends the request of an attempt. */
type Send = (ownHeaders: Record<string, string>, timeoutMs?: number) => Promise<HttpOutcome>;

interface KeptToken {
  token: string;
  /** By the monotonic clock. */
  until: number;
}

type Answer = FetchedToken | Exclude<HttpOutcome, { kind: 'response' }>;

/**
 * Access tokens for receivers behind OAuth (contract §22), from their own authorization servers by the client credentials grant
 * (RFC 6749 §4.4). They are kept in memory until they end; of each endpoint one request for a token is under way at a time.
 */
@Injectable()
export class ReceiverTokens {
  private readonly kept = new LRUCache<string, KeptToken>({ max: 1000 });
  private readonly underWay = new Map<string, Promise<Answer>>();

  constructor(private readonly http: GuardedHttpClient) {}

  /**
   * Sends a request with a token and, if the receiver answers 401, once more with a new one. Without a token the outcome is a failure of
   * its own kind, `token`; `signal` aborts it. Never throws because of a receiver or its authorization server.
   */
  async send(client: ReceiverClient, signal: AbortSignal, send: Send): Promise<HttpOutcome> {
    const first = await this.tokenOf(client, signal);
    if (first.kind !== 'token') return first;
    const outcome = await send(bearer(first.token));
    if (outcome.kind !== 'response' || outcome.status !== UNAUTHORIZED) return outcome;
    const second = await this.tokenOf(client, signal, first.token);
    if (second.kind !== 'token') return second;
    return send(bearer(second.token), Math.max(TIMEOUT_MS - outcome.durationMs, 1));
  }

  /** `refused`: what a receiver does not accept any more. Whoever else finds that out uses the same new one. */
  private tokenOf(
    client: ReceiverClient,
    signal: AbortSignal,
    refused?: string,
  ): Promise<Answer> | FetchedToken {
    const place = placeOf(client);
    const known = this.kept.get(place);
    if (known && known.token !== refused && performance.now() < known.until) {
      return { kind: 'token', token: known.token, keptMs: 0 };
    }
    this.kept.delete(place);
    const running = this.underWay.get(place) ?? this.ask(place, client, signal);
    this.underWay.set(place, running);
    return running;
  }

  private async ask(place: string, client: ReceiverClient, signal: AbortSignal): Promise<Answer> {
    const begun = performance.now();
    try {
      const answer = await this.fetch(client, signal);
      if (answer.kind === 'token' && answer.keptMs > 0) {
        this.kept.set(place, { token: answer.token, until: begun + answer.keptMs });
      }
      return answer;
    } finally {
      this.underWay.delete(place);
    }
  }

  private async fetch(client: ReceiverClient, signal: AbortSignal): Promise<Answer> {
    const { authentication, clientSecret, isSandbox } = client;
    const { token_url: tokenUrl, client_id: id, scope } = authentication;
    const headers = {
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(`${encoded(id)}:${encoded(clientSecret)}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': USER_AGENT,
    };
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(scope === null ? {} : { scope }),
    });
    const timeoutMs = TOKEN_TIMEOUT_MS;
    return tokenIn(
      await this.http.post(tokenUrl, headers, form.toString(), signal, { isSandbox, timeoutMs }),
    );
  }
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** RFC 6749 §2.3.1: id and secret are form-urlencoded before they are joined. */
const encoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** Another secret, or another of anything else, needs another token. */
const placeOf = ({ endpointId, authentication, sealedClientSecret }: ReceiverClient): string => {
  const { token_url: url, client_id: id, scope } = authentication;
  return JSON.stringify([endpointId, url, id, scope, sealedClientSecret.toString('base64')]);
};
