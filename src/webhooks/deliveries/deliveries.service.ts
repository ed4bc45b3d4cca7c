import { Injectable } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { Transactions } from '../../database/transactions.js';
import type { Page, PageRequest } from '../../http/paging.js';
import { conflict, notFound } from '../../http/problem.js';
import { isId, newId } from '../../secrets/ids.js';
import type { Delivery, DeliveryDetail } from './delivery.js';
import { DeliveriesRepository, type DeliveryFilter, type Recovery } from './deliveries.repository.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import { WakeUps } from './wake-ups.service.js';

/** One recovery sends so many again at the most; what is left can be recovered after it. */
export const RECOVERY_MAX = 50_000;
const LOOK_AGAIN_MS = 100;

/** Which of an endpoint's failed deliveries: those made from the one time until before the other. */
export interface RecoveryRange {
  endpointId: string;
  from: Date;
  to: Date;
}

/** Deliveries as people look at them and send them again (contract §11, §12). With a `clientId`, another client's is a 404 problem. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly repository: DeliveriesRepository,
    private readonly queue: DeliveryQueueRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** How many are pending, counted to 10,000, and for how many seconds the oldest that is due has waited. */
  waiting(): Promise<{ pending: number; oldestSeconds: number }> {
    return this.queue.waiting();
  }

  /** Newest first. */
  list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    return this.repository.list(filter, page);
  }

  /** A delivery with its payload and every attempt. */
  async get(id: string, clientId?: string): Promise<DeliveryDetail> {
    const delivery = isId('dlvr', id) ? await this.repository.find(id, clientId) : undefined;
    if (!delivery) throw notFound('There is no delivery with this id.');
    return delivery;
  }

  /** Resolves when no attempt of it is to come any more, or after so many milliseconds. */
  async waitUntilFinished(id: string, milliseconds: number): Promise<void> {
    const deadline = performance.now() + milliseconds;
    while (!(await this.repository.isFinished(id)) && performance.now() < deadline)
      await after(LOOK_AGAIN_MS);
  }

  /**
   * Sends it again under the same `webhook-id`, from the beginning of the retry schedule; what it rests on is looked at again.
   * Throws a 409 problem while an attempt is under way, and for a deleted endpoint.
   */
  async resend(id: string, clientId: string | undefined, actor: Actor): Promise<DeliveryDetail> {
    const before = await this.get(id, clientId);
    await this.transactions.run(async (manager) => {
      if (!(await this.repository.resend(manager, id))) {
        throw conflict('This delivery is being attempted at this moment, or its endpoint was deleted.');
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

  /** How many a recovery would send again. */
  countFailed(clientId: string, { endpointId, from, to }: RecoveryRange): Promise<number> {
    return this.repository.countFailed(clientId, endpointId, from, to);
  }

  /** Sends all that failed in the range again, at most 50,000; the recovery's id, to see how far it is. */
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

  /** How far a recovery is. */
  async recovery(id: string, clientId: string): Promise<Recovery> {
    const recovery = isId('rcvr', id) ? await this.repository.findRecovery(id, clientId) : undefined;
    if (!recovery) throw notFound('There is no recovery with this id.');
    return recovery;
  }
}
