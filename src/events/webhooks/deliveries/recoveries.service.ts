import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound, validationFailed } from '#platform/http/problems/problem.js';
import { isId, newId } from '#platform/secrets/ids.js';
import { EndpointsRepository } from '../endpoints/endpoints.repository.js';
import type { DeliveryFilter } from './delivery-filter.js';
import { RecoveriesRepository, type NewRecovery, type Part, type Resent } from './recoveries.repository.js';
import type { Recovery } from './recovery.entity.js';
import { WakeUps } from './wake-ups.service.js';
import { violation } from '#platform/http/problems/violation.js';

/** The most that one recovery sends; the rest can be sent afterwards. */
export const RECOVERY_MAX = 50_000;
// A statement may take ten seconds, and the database may be busy.
const AT_ONCE = 5_000;
/** Contract §22: the most that can be chosen. */
export const SELECTED_MAX = 100;

/** An endpoint's failed deliveries that were created from one time until before the other. */
export interface RecoveryRange {
  endpointId: string;
  from: Date;
  to: Date;
}

/** Resending many deliveries, and sending what an endpoint missed (contract §11.4, §22): each as a recovery whose progress is shown. */
@Injectable()
export class RecoveriesService {
  constructor(
    private readonly repository: RecoveriesRepository,
    private readonly endpoints: EndpointsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly wakeUps: WakeUps,
  ) {}

  /** How many deliveries a recovery would resend, counted up to one more than it can send. */
  countFailed(clientId: string, range: RecoveryRange): Promise<number> {
    return this.repository.count(failedIn(clientId, range), RECOVERY_MAX + 1);
  }

  /** How many matches would be resent, counted in the same way. */
  countMatching(clientId: string, filter: DeliveryFilter): Promise<number> {
    return this.repository.count({ ...filter, clientId }, RECOVERY_MAX + 1);
  }

  /**
   * Resends everything that failed in the range, at most 50,000 deliveries. Returns the id of the recovery, to follow its
   * progress.
   */
  recover(clientId: string, range: RecoveryRange, actor: Actor): Promise<string> {
    return this.make({ kind: 'failed', clientId, ...range }, actor, failedIn(clientId, range));
  }

  /**
   * The same for everything that matches a filter, in any state, and existed at a given time. Throws a 404 problem for an endpoint that the
   * client never had.
   */
  async resendMatching(clientId: string, filter: DeliveryFilter, until: Date, actor: Actor): Promise<string> {
    const { endpointId = null, from = new Date(0) } = filter;
    if (endpointId !== null && !(await this.endpoints.hasEverHad(clientId, endpointId))) {
      throw notFound('There is no webhook endpoint with this id.');
    }
    const to = filter.to && filter.to < until ? filter.to : until;
    return this.make({ kind: 'matching', clientId, endpointId, from, to }, actor, {
      ...filter,
      to,
      clientId,
    });
  }

  /** The same for up to 100 that were chosen. Throws a 400 problem for none, for more, or for something that is not the id of a delivery. */
  async resendSelected(clientId: string, ids: string[], actor: Actor): Promise<string> {
    const chosen = [...new Set(ids)];
    if (chosen.length === 0 || chosen.length > SELECTED_MAX || !chosen.every((id) => isId('dlvr', id))) {
      throw validationFailed({ delivery: [violation('selection', { max: SELECTED_MAX })] });
    }
    const now = new Date();
    const recovery = { kind: 'selected' as const, clientId, endpointId: null, from: now, to: now };
    return this.make(recovery, actor, { ids: chosen, clientId });
  }

  /** The period in which an endpoint was disabled, if what it missed can be sent; the endpoint must be enabled. */
  missed(endpointId: string): Promise<{ from: Date; to: Date } | undefined> {
    return this.repository.openPauses(endpointId);
  }

  /**
   * Sends the events that were not sent to the endpoint while it was disabled, once for each pause; beyond 50,000, the rest
   * can be sent afterwards. Throws a 409 problem if there is nothing to send, and for a disabled endpoint.
   */
  async sendMissed(clientId: string, endpointId: string, actor: Actor): Promise<string> {
    return this.inOne(actor, async () => {
      const endpoint = await this.endpoints.hold(endpointId, clientId);
      if (!endpoint) throw notFound('There is no webhook endpoint with this id.');
      if (!endpoint.enabled) throw conflict('The endpoint is disabled. Enable it first.');
      const range = await this.repository.closePauses(endpointId);
      if (!range) throw conflict('What was missed was sent already.');
      const recovery = { id: newId('rcvr'), kind: 'missed' as const, clientId, endpointId, ...range };
      await this.repository.insert(recovery);
      const missed = { recoveryId: recovery.id, endpointId, clientId, ...range };
      const ofUsers = await inParts(0, (part) => this.repository.sendMissed(missed, part));
      const total = await inParts(ofUsers, (part) => this.repository.sendMissedOfClient(missed, part));
      if (total === RECOVERY_MAX) await this.repository.reopenPauses(endpointId);
      return { recovery, total };
    });
  }

  /** A recovery with its progress. */
  async recovery(id: string, clientId: string): Promise<Recovery> {
    const recovery = isId('rcvr', id) ? await this.repository.find(id, clientId) : undefined;
    if (!recovery) throw notFound('There is no recovery with this id.');
    return recovery;
  }

  private make(input: Omit<NewRecovery, 'id'>, actor: Actor, resent: Resent): Promise<string> {
    const recovery = { ...input, id: newId('rcvr') };
    return this.inOne(actor, async () => {
      await this.repository.insert(recovery);
      const total = await inParts(0, ({ limit }) => this.repository.resend(recovery.id, resent, limit));
      return { recovery, total };
    });
  }

  /** Creates a recovery with its total and its audit event in one transaction, and wakes the workers. */
  private async inOne(
    actor: Actor,
    work: () => Promise<{ recovery: NewRecovery; total: number }>,
  ): Promise<string> {
    const id = await this.transactions.run(async () => {
      const { recovery, total } = await work();
      await this.repository.setTotal(recovery.id, total);
      const { kind, endpointId, from, to } = recovery;
      await this.audit.record(actor, {
        action: 'delivery.recovered',
        subjectType: endpointId === null ? 'client' : 'webhook_endpoint',
        subjectId: endpointId ?? recovery.clientId,
        after: { kind, from: from.toISOString(), to: to.toISOString(), deliveries: total },
      });
      return recovery.id;
    });
    this.wakeUps.announce();
    return id;
  }
}

const failedIn = (clientId: string, range: RecoveryRange) =>
  ({ ...range, clientId, state: 'failed', isForDisabled: true }) as const;

/** Sends in statements of their own until nothing is left, or a recovery can send no more; returns how many, with those sent before. */
async function inParts(before: number, send: (part: Part) => Promise<number>): Promise<number> {
  let sent = before;
  for (let isMore = true; isMore && sent < RECOVERY_MAX;) {
    const limit = Math.min(AT_ONCE, RECOVERY_MAX - sent);
    const count = await send({ sent, limit });
    sent += count;
    isMore = count === limit;
  }
  return sent;
}
