import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict } from '#platform/http/problems/problem.js';
import { WAITING_PER_OWNER, type Sandbox, type Speed } from './driver.js';
import { DriversRepository } from './drivers.repository.js';
import { driverNotFound } from './drivers.service.js';
import { planBurst, planPastDays, planSession, type PlannedEvent } from './generator/plan-session.js';
import { PlannedEventsWorker, SandboxClock } from './planned-events.worker.js';
import { PlansRepository } from './plans.repository.js';

/** What is to be planned for a driver. */
interface Wish {
  action: 'session_started' | 'past_days_sent' | 'burst_sent';
  /** For the audit log. */
  details: Record<string, number>;
  /** How many sessions it takes. */
  sessions: number;
  /** Whether each event waits for its time; otherwise all are published at once, whatever times they bear. */
  isTimed: boolean;
  plan: (driver: { seed: number; number: number }, now: Date) => PlannedEvent[];
}

/** Plans the events of drivers (contract §19); the worker publishes them. */
@Injectable()
export class PlansService {
  constructor(
    private readonly repository: PlansRepository,
    private readonly drivers: DriversRepository,
    private readonly clock: SandboxClock,
    private readonly worker: PlannedEventsWorker,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Starts a session. Throws 404 for another sandbox's driver, 409 while one runs, and if too many events would wait. */
  startSession(sandbox: Sandbox, driverId: string, speed: Speed, actor: Actor): Promise<number> {
    const wish: Wish = {
      action: 'session_started',
      details: { speed },
      sessions: 1,
      isTimed: true,
      plan: (driver, start) => planSession({ ...driver, start, speed }),
    };
    return this.plan(sandbox, driverId, wish, actor);
  }

  /** Publishes the sessions of past days, with their own times, at once. */
  sendPastDays(sandbox: Sandbox, driverId: string, days: number, actor: Actor): Promise<number> {
    const wish: Wish = {
      action: 'past_days_sent',
      details: { days },
      sessions: days,
      isTimed: false,
      plan: (driver, now) => planPastDays(driver, days, now),
    };
    return this.plan(sandbox, driverId, wish, actor);
  }

  /** Publishes many events at once. */
  sendBurst(sandbox: Sandbox, driverId: string, count: number, actor: Actor): Promise<number> {
    const wish: Wish = {
      action: 'burst_sent',
      details: { count },
      sessions: 1,
      isTimed: false,
      plan: (driver, now) => planBurst(driver, count, now),
    };
    return this.plan(sandbox, driverId, wish, actor);
  }

  /** Returns the number of events. */
  private async plan({ ownerId }: Sandbox, userId: string, wish: Wish, actor: Actor): Promise<number> {
    try {
      const count = await this.transactions.run(async () => {
        // The owner before the driver, as everywhere.
        if (!(await this.drivers.lockOwner(ownerId))) return driverNotFound();
        const driver = await this.drivers.reserve(ownerId, userId, wish.sessions);
        if (!driver) return driverNotFound();
        const now = await this.repository.now(this.clock.aheadSeconds);
        const events = wish.plan(driver, now);
        if ((await this.repository.countWaiting(ownerId)) + events.length > WAITING_PER_OWNER) {
          throw conflict(
            `At most ${WAITING_PER_OWNER} events of a sandbox can wait to be published. Try again when fewer do.`,
          );
        }
        const rows = events.map(({ at, type, data }, n) => ({
          dueAt: wish.isTimed ? at : now,
          occurredAt: at,
          type,
          data,
          endsSession: wish.isTimed && n === events.length - 1,
        }));
        await this.repository.insert({ userId, ownerId }, rows);
        await this.audit.record(actor, {
          action: `sandbox.${wish.action}`,
          subjectType: 'user',
          subjectId: userId,
          after: wish.details,
        });
        return events.length;
      });
      this.worker.wake();
      return count;
    } catch (error) {
      if (!isUniqueViolation(error, 'sandbox_planned_events_running_key')) throw error;
      throw conflict('A session of this driver is running. Wait until it has ended.');
    }
  }
}
