import { Injectable } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { DAY_MS } from '#platform/config/durations.js';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import type { Delivery, DeliveryDetail } from './delivery.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import type { DeliveryFilter } from './delivery-filter.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { WakeUps } from './wake-ups.service.js';

const LOOK_AGAIN_MS = 100;

/** Viewing and resending deliveries (contract §11, §12). With a `clientId`, another client's delivery is a 404 problem. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly repository: DeliveriesRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** The backlog, for the metrics. */
  waiting(): Promise<{ pending: number; oldestSeconds: number; heldBack: number }> {
    return this.queue.waiting();
  }

  /** Newest first. */
  list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    return this.repository.list(filter, page);
  }

  /** Whether the client has received anything that is still kept. */
  hasDelivered(clientId: string): Promise<boolean> {
    return this.repository.hasDelivered(clientId);
  }

  /**
   * A delivery with its payload and every attempt. With a `clientId`, the payload is omitted if that client may not see it: it
   * was never delivered, and the user does not currently share it with the client.
   */
  async get(id: string, clientId?: string): Promise<DeliveryDetail> {
    const delivery = isId('dlvr', id) ? await this.repository.find(id, clientId) : undefined;
    if (!delivery) throw notFound('There is no delivery with this id.');
    return delivery;
  }

  /** The client's newest deliveries of the last day about a user, the newest first; payloads are omitted as by `get`. */
  newestAbout(userId: string, clientId: string, limit: number): Promise<DeliveryDetail[]> {
    return this.repository.newestAbout(userId, clientId, new Date(Date.now() - DAY_MS), limit);
  }

  /** Resolves when no attempt is pending any more, or after this many milliseconds. */
  async waitUntilFinished(id: string, milliseconds: number): Promise<void> {
    let isOver = false;
    const limit = setTimeout(() => (isOver = true), milliseconds);
    try {
      while (!(await this.repository.isFinished(id)) && !isOver) await after(LOOK_AGAIN_MS);
    } finally {
      clearTimeout(limit);
    }
  }

  /**
   * Resends it with the same `webhook-id`, from the start of the retry schedule; consent, client and endpoint are checked again.
   * Throws a 409 problem while an attempt is running, for a deleted endpoint, and if its user was erased.
   */
  async resend(id: string, clientId: string | undefined, actor: Actor): Promise<DeliveryDetail> {
    const before = await this.get(id, clientId);
    await this.transactions.run(async () => {
      if (!(await this.repository.resend(id))) {
        throw conflict(
          before.payloadHidden === 'erased'
            ? 'The user that this delivery was about was erased, so there is nothing left to send.'
            : 'This delivery is being attempted right now, or its endpoint was deleted.',
        );
      }
      await this.audit.record(actor, {
        action: 'delivery.resent',
        subjectId: id,
        before: { state: before.state, attempts: before.attempts },
      });
    });
    this.wakeUps.announce();
    return this.get(id, clientId);
  }
}
