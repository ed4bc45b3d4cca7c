import { Injectable, Logger } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { isForeignKeyViolation } from '#platform/database/queries/database-errors.js';
import { refuseInTransaction } from '#platform/database/queries/transaction-around.js';
import {
  serviceUnavailable,
  unprocessableContent,
  validationFailed,
} from '#platform/http/problems/problem.js';
import { newId } from '#platform/secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { EventValidation, type EventVerdict } from '../event-types/event-validation.service.js';
import { payloadOf, type EventContent, type NewEvent } from './event.js';
import { EventsRepository, type PublishResult, type UsedKey } from './events.repository.js';
import { SchemaBreaks } from './schema-breaks.service.js';
import { violation, type Violations } from '#platform/http/problems/violation.js';

// The most events that one statement stores; the next statement stores the rest.
const BATCH = 200;
const ATTEMPTS = 4;

export interface Publication extends EventContent {
  /** Undefined for the current version of the type. */
  version?: number;
  idempotencyKey?: string;
  requestId?: string;
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

/** An event as submitted, before it is validated against its type. */
type Submitted = Omit<NewEvent, 'version' | 'revision' | 'resourceId'>;

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
  private readonly logger = new Logger(PublishingService.name);
  private waiting: Waiting[] = [];
  private isStoring = false;

  constructor(
    private readonly repository: EventsRepository,
    private readonly wakeUps: WakeUps,
    private readonly validation: EventValidation,
    private readonly breaks: SchemaBreaks,
  ) {}

  /**
   * Accepts an event and stores it with its deliveries. The same key within 24 hours returns the same result; with another body
   * it is a 422 problem. Throws a 400 problem for a type that services do not publish, for an unknown user, and for data that its
   * version refuses.
   */
  async publish(publication: Publication, publisher: Publisher): Promise<Published> {
    const { idempotencyKey, requestId } = publication;
    const event = {
      ...submitted(publication, publisher),
      requestId,
      ...(idempotencyKey === undefined
        ? {}
        : { idempotency: { keyDigest: sha256(idempotencyKey), bodyDigest: bodyDigestOf(publication) } }),
    };
    let verdict = await this.validation.validate(publication);
    // A refusal must be based on the current catalogue.
    if (this.refusalOf(verdict)) verdict = await this.validation.validateByCurrentTypes(publication);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const refusal = this.refusalOf(verdict);
      if (refusal) return this.refuse(event, refusal);
      await this.validation.beginUse(verdict);
      const { version, revision, resourceId } = verdict;
      const result = await this.store({ ...event, version, revision, resourceId });
      const violations = {
        ...(result.isTypeKnown ? {} : { type: [violation('not_publishable_type')] }),
        ...(result.isUserKnown ? {} : { user_id: [violation('unknown_id', { what: 'user' })] }),
      };
      if (Object.keys(violations).length > 0) return this.refuse(event, violations);
      if (!result.isCurrent) {
        verdict = await this.validation.validateByCurrentTypes(publication);
        continue;
      }
      if (!result.isStored) return this.answerAgain(event);
      if (verdict.broken) this.breaks.note(event.type, version, verdict.broken);
      this.announce(result.deliveries);
      return { id: result.id, deliveries: result.deliveries };
    }
    throw changing();
  }

  /**
   * Validates events and waits for their turn to be numbered, in a transaction before it writes anything. Returns what to
   * publish with `publishPrepared`, without those that their type refuses.
   */
  async prepare<P extends EventContent>(
    publications: P[],
    publisher: Publisher,
  ): Promise<{ publication: P; event: NewEvent }[]> {
    const prepared: { publication: P; event: NewEvent }[] = [];
    for (const publication of publications) {
      const verdict = await this.validation.validate(publication);
      const { version, revision, resourceId, broken } = verdict;
      const event = submitted(publication, publisher);
      if (broken) this.breaks.note(event.type, version, broken);
      if (this.refusalOf(verdict)) {
        this.logger.warn(`An event is left out: its type ${event.type} refuses it.`);
        continue;
      }
      await this.validation.beginUse(verdict);
      prepared.push({ publication, event: { ...event, version, revision, resourceId } });
    }
    const events = prepared.map(({ event }) => event);
    await this.repository.takeTurns(events);
    return prepared;
  }

  /**
   * Publishes prepared events in the same transaction, in this order and without idempotency keys. Those of erased users
   * are left out. Returns the number of deliveries; announce them after the commit. Throws a 503 problem while a type is being changed.
   */
  async publishPrepared(events: NewEvent[]): Promise<number> {
    if (events.length === 0) return 0;
    const results = await this.repository.publishWithin(events);
    if (results.some(({ isTypeKnown, isCurrent }) => isTypeKnown && !isCurrent)) {
      await this.validation.readAgain();
      throw changing();
    }
    return results.reduce((sum, { deliveries }) => sum + deliveries, 0);
  }

  /** Wakes the workers that deliver, if there is something to deliver, and readers of the feed. */
  announce(deliveries: number): void {
    this.wakeUps.announce(deliveries > 0 ? 'deliveries' : 'events');
  }

  private refusalOf({ violations, broken }: EventVerdict): Violations | undefined {
    if (violations || !broken || !this.breaks.areRefused) return violations;
    return { [broken.path]: [violation('breaks_schema', { why: broken.message })] };
  }

  /** Throws a 400 problem, unless the same event was accepted earlier, when its version still allowed it. */
  private async refuse(event: Submitted, violations: Violations): Promise<Published> {
    const used = await this.usedKey(event);
    if (used?.bodyDigest.equals(event.idempotency!.bodyDigest)) {
      return { id: used.eventId, deliveries: used.deliveries };
    }
    throw validationFailed(violations);
  }

  private async answerAgain(event: Submitted): Promise<Published> {
    const used = await this.usedKey(event);
    if (!used?.bodyDigest.equals(event.idempotency!.bodyDigest)) {
      throw unprocessableContent('This Idempotency-Key was used with another body within the last 24 hours.');
    }
    return { id: used.eventId, deliveries: used.deliveries };
  }

  private async usedKey({ publisherId, idempotency }: Submitted): Promise<UsedKey | undefined> {
    return idempotency && this.repository.findKey(publisherId, idempotency.keyDigest);
  }

  private store(event: NewEvent): Promise<PublishResult> {
    refuseInTransaction('An event that is stored together with others');
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
        return await this.repository.publish(events);
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

/** Covers only what the publisher sent, because a retry gets another event id. */
const bodyDigestOf = ({ type, timestamp, userId, data, version }: Publication): Buffer =>
  sha256(JSON.stringify([type, timestamp, userId, data, ...(version === undefined ? [] : [version])]));

const submitted = (content: EventContent, { id: publisherId, realm }: Publisher): Submitted => {
  const id = newId('evnt');
  const { type, userId } = content;
  return { id, type, userId, payload: payloadOf(id, content), publisherId, realm };
};

const changing = () =>
  serviceUnavailable('This event type is being changed at the moment. Please publish the event again.', {
    headers: { 'retry-after': '1' },
  });

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
