import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { isForeignKeyViolation } from '../../database/queries/database-errors.js';
import { Transactions } from '../../database/queries/transactions.js';
import { unprocessableContent, validationFailed } from '../../http/problems/problem.js';
import { newId } from '../../secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { payloadOf, type EventContent, type NewEvent } from './event.js';
import { EventsRepository, type PublishResult } from './events.repository.js';

// The most that one statement stores; later events go with the next one.
const BATCH = 200;
const ATTEMPTS = 4;

export interface Publication extends EventContent {
  idempotencyKey?: string;
}

/** The client that publishes, and the realm whose users it knows. */
export interface Publisher {
  id: string;
  realm: string;
}

/** The result for the publisher: the event, and the number of endpoints it is sent to. */
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
 * Publishing (contract §10). Concurrent events are stored by one statement and share its commit; publishers get their responses
 * after it.
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
   * Accepts an event and stores it with its deliveries. The same key within 24 hours returns the same result; with another body
   * it is a 422 problem. Throws a 400 problem for a type that services do not publish, and for an unknown user.
   */
  async publish(publication: Publication, publisher: Publisher): Promise<Published> {
    const { type, userId, timestamp, data, idempotencyKey } = publication;
    // Only of what was sent, because a retry gets another id.
    const bodyDigest = sha256(JSON.stringify([type, timestamp, userId, data]));
    const event: NewEvent = {
      ...newEvent(publication, publisher),
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

  /**
   * Publishes events in the caller's transaction, in this order and without idempotency keys. Those of a user who is gone are left
   * out. Returns the number of deliveries; announce them after the commit.
   */
  async publishIn(
    manager: EntityManager,
    publications: EventContent[],
    publisher: Publisher,
  ): Promise<number> {
    const events = publications.map((publication) => newEvent(publication, publisher));
    const results = await this.repository.publish(events, manager);
    return results.reduce((sum, { deliveries }) => sum + deliveries, 0);
  }

  /** Wakes the workers that deliver. */
  announce(): void {
    this.wakeUps.announce();
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

  /** A concurrent deletion (of a user or an endpoint) makes the statement fail; the next attempt no longer sees the row. */
  private async storeBatch(events: NewEvent[]): Promise<PublishResult[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.transactions.retried(() => this.repository.publish(events));
      } catch (error) {
        if (attempt === ATTEMPTS || !isForeignKeyViolation(error)) throw error;
      }
    }
  }

  /** The first waiting events, with distinct keys: a second event with the same key must find the first one stored. */
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

const newEvent = (content: EventContent, { id: publisherId, realm }: Publisher): NewEvent => {
  const id = newId('evnt');
  const { type, userId } = content;
  return { id, type, userId, payload: payloadOf(id, content), publisherId, realm };
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
