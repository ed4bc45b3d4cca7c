import { Injectable } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { Transactions } from '../../database/queries/transactions.js';
import type { Page, PageRequest } from '../../database/queries/read-page.js';
import { conflict, notFound } from '../../http/problems/problem.js';
import { isId, newId } from '../../secrets/ids.js';
import type { Delivery, DeliveryDetail } from './delivery.js';
import { DeliveriesRepository } from './deliveries.repository.js';
import type { DeliveryFilter } from './delivery-filter.js';
import type { Recovery } from './recovery.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { WakeUps } from './wake-ups.service.js';

/** The most that one recovery resends; the rest can be recovered afterwards. */
export const RECOVERY_MAX = 50_000;
const LOOK_AGAIN_MS = 100;

/** An endpoint's failed deliveries that were created from one time until before the other. */
export interface RecoveryRange {
  endpointId: string;
  from: Date;
  to: Date;
}

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

  /** The number of pending deliveries, counted up to 10,000, and how many seconds the oldest due one has waited. */
  waiting(): Promise<{ pending: number; oldestSeconds: number }> {
    return this.queue.waiting();
  }

  /** Newest first. */
  list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    return this.repository.list(filter, page);
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

  /** Resolves when no more attempts are pending, or after this many milliseconds. */
  async waitUntilFinished(id: string, milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while (!(await this.repository.isFinished(id)) && performance.now() < deadline)
      await after(LOOK_AGAIN_MS);
  }

  /**
   * Resends it with the same `webhook-id`, from the start of the retry schedule; consent, client and endpoint are checked again.
   * Throws a 409 problem while an attempt is running, for a deleted endpoint, and if its user was erased.
   */
  async resend(id: string, clientId: string | undefined, actor: Actor): Promise<DeliveryDetail> {
    const before = await this.get(id, clientId);
    await this.transactions.run(async (manager) => {
      if (!(await this.repository.resend(manager, id))) {
        throw conflict(
          before.payloadHidden === 'erased'
            ? 'The user that this delivery was about was erased, so there is nothing left to send.'
            : 'This delivery is being attempted right now, or its endpoint was deleted.',
        );
      }
      await this.audit.record(manager, actor, {
        action: 'delivery.resent',
        subjectType: 'delivery',
        subjectId: id,
        before: { state: before.state, attempts: before.attempts },
      });
    });
    this.wakeUps.announce();
    return this.get(id, clientId);
  }

  /** How many deliveries a recovery would resend. */
  countFailed(clientId: string, { endpointId, from, to }: RecoveryRange): Promise<number> {
    return this.repository.countFailed(clientId, endpointId, from, to);
  }

  /**
   * Resends everything that failed in the range, at most 50,000 deliveries. Returns the id of the recovery, to follow its
   * progress.
   */
  async recover(clientId: string, range: RecoveryRange, actor: Actor): Promise<string> {
    const id = newId('rcvr');
    await this.transactions.run(async (manager) => {
      await this.repository.insertRecovery(manager, id, clientId, range);
      const total = await this.repository.resendFailed(manager, id, clientId, range, RECOVERY_MAX);
      await this.repository.setRecoveryTotal(manager, id, total);
      await this.audit.record(manager, actor, {
        action: 'delivery.recovered',
        subjectType: 'webhook_endpoint',
        subjectId: range.endpointId,
        after: { from: range.from.toISOString(), to: range.to.toISOString(), deliveries: total },
      });
    });
    this.wakeUps.announce();
    return id;
  }

  /** A recovery with its progress. */
  async recovery(id: string, clientId: string): Promise<Recovery> {
    const recovery = isId('rcvr', id) ? await this.repository.findRecovery(id, clientId) : undefined;
    if (!recovery) throw notFound('There is no recovery with this id.');
    return recovery;
  }
}
