import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { isForeignKeyViolation } from '../../database/database-errors.js';
import { Transactions } from '../../database/transactions.js';
import { unprocessableContent, validationFailed } from '../../http/problem.js';
import { newId } from '../../secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { payloadOf, type NewEvent } from './event.js';
import { EventsRepository, type PublishResult } from './events.repository.js';

// What one statement takes; what comes meanwhile goes with the next.
const BATCH = 200;
const ATTEMPTS = 4;

export interface Publication {
  type: string;
  userId: string;
  /** ISO 8601 UTC with `Z`. */
  timestamp: string;
  data: object;
  idempotencyKey?: string;
}

/** What the publisher is told: the event, and to how many endpoints it goes. */
export interface Published {
  id: string;
  deliveries: number;
}

interface Waiting {
  event: NewEvent;
  resolve: (result: PublishResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Publishing (contract §10). Events that come at the same time are stored by one statement and share its commit; each
 * publisher is answered after it.
 */
@Injectable()
export class PublishingService {
  private waiting: Waiting[] = [];
  private isStoring = false;

  constructor(
    private readonly repository: EventsRepository,
    private readonly transactions: Transactions,
    private readonly wakeUps: WakeUps,
  ) {}

  /**
   * Accepts an event: it is stored with its deliveries. The same key again within 24 hours gives the same answer; with
   * another body a 422 problem. Throws a 400 problem for a type that services do not publish, and for an unknown user.
   */
  async publish(publication: Publication, publisherId: string): Promise<Published> {
    const { type, userId, timestamp, data, idempotencyKey } = publication;
    const payload = payloadOf(type, timestamp, userId, data);
    const bodyDigest = sha256(payload);
    const event: NewEvent = {
      id: newId('evnt'),
      type,
      userId,
      payload,
      publisherId,
      ...(idempotencyKey === undefined
        ? {}
        : { idempotency: { keyDigest: sha256(idempotencyKey), bodyDigest } }),
    };
    const result = await this.store(event);
    const fieldErrors = {
      ...(result.isTypeKnown ? {} : { type: ['is not an event type that services publish'] }),
      ...(result.isUserKnown ? {} : { user_id: ['is not the id of a user'] }),
    };
    if (Object.keys(fieldErrors).length > 0) throw validationFailed(fieldErrors);
    if (!result.isStored) return this.answerAgain(event, bodyDigest);
    if (result.deliveries > 0) this.wakeUps.announce();
    return { id: result.id, deliveries: result.deliveries };
  }

  private async answerAgain({ publisherId, idempotency }: NewEvent, bodyDigest: Buffer): Promise<Published> {
    const used = await this.repository.findKey(publisherId, idempotency!.keyDigest);
    if (!used?.bodyDigest.equals(bodyDigest)) {
      throw unprocessableContent('This Idempotency-Key was used with another body within the last 24 hours.');
    }
    return { id: used.eventId, deliveries: used.deliveries };
  }

  private store(event: NewEvent): Promise<PublishResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ event, resolve, reject });
      if (!this.isStoring) void this.storeWaiting();
    });
  }

  private async storeWaiting(): Promise<void> {
    this.isStoring = true;
    while (this.waiting.length > 0) {
      const batch = this.takeBatch();
      try {
        const results = await this.storeBatch(batch.map(({ event }) => event));
        const byId = new Map(results.map((result) => [result.id, result]));
        for (const { event, resolve } of batch) resolve(byId.get(event.id)!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isStoring = false;
  }

  /** What is deleted at this very moment (a user, an endpoint) breaks the statement; the next look no longer sees it. */
  private async storeBatch(events: NewEvent[]): Promise<PublishResult[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.transactions.retried(() => this.repository.publish(events));
      } catch (error) {
        if (attempt === ATTEMPTS || !isForeignKeyViolation(error)) throw error;
      }
    }
  }

  /** The first that wait, each key once: another with the same key must find what this one made. */
  private takeBatch(): Waiting[] {
    const keys = new Set<string>();
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const one of this.waiting) {
      const { publisherId, idempotency } = one.event;
      const key = idempotency && `${publisherId} ${idempotency.keyDigest.toString('base64')}`;
      if (batch.length === BATCH || (key !== undefined && keys.has(key))) rest.push(one);
      else {
        batch.push(one);
        if (key !== undefined) keys.add(key);
      }
    }
    this.waiting = rest;
    return batch;
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
