import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { EventContent } from '../webhooks/events/event.js';
import { PlannedEventEntity } from './planned-event.entity.js';

type PlannedRow = Pick<PlannedEventEntity, 'dueAt' | 'occurredAt' | 'type' | 'data' | 'endsSession'>;

/** Events whose time has come, all of one driver, in their order. */
export interface DueEvents {
  ownerId: string;
  events: EventContent[];
}

// So that no transaction holds much for long.
const BATCH = 50;

@Injectable()
export class PlansRepository {
  constructor(
    @InjectRepository(PlannedEventEntity) private readonly planned: Repository<PlannedEventEntity>,
  ) {}

  /** The time of the transaction, by the database's clock. */
  async now(manager: EntityManager, aheadSeconds: number): Promise<Date> {
    const [row]: { now: Date }[] = await manager.query('SELECT now() + make_interval(secs => $1) AS now', [
      aheadSeconds,
    ]);
    return row!.now;
  }

  countWaiting(manager: EntityManager, ownerId: string): Promise<number> {
    return manager.withRepository(this.planned).countBy({ ownerId });
  }

  /** A second session that runs is a violation of `sandbox_planned_events_running_key`. */
  async insert(
    manager: EntityManager,
    driver: { userId: string; ownerId: string },
    events: PlannedRow[],
  ): Promise<void> {
    await manager
      .withRepository(this.planned)
      .createQueryBuilder()
      .insert()
      .values(events.map((event) => ({ ...event, ...driver })))
      .updateEntity(false)
      .execute();
  }

  /**
   * Takes events that are due out of the plan, of the driver who has waited longest and whom no other instance has in hand: what a
   * driver does is published in its order. A driver who is being erased is passed over. In SQL, because it locks, then deletes.
   */
  async takeDue(manager: EntityManager, aheadSeconds: number): Promise<DueEvents | undefined> {
    const rows: { ownerId: string; userId: string; type: string; occurredAt: Date; data: object }[] =
      await manager.query(
        `WITH due AS MATERIALIZED (
           SELECT user_id, min(due_at) AS at FROM sandbox_planned_events
            WHERE due_at <= now() + make_interval(secs => $1) GROUP BY user_id
         ), driver AS MATERIALIZED (
           SELECT d.user_id FROM due JOIN sandbox_drivers d ON d.user_id = due.user_id JOIN users u ON u.id = d.user_id
            ORDER BY due.at LIMIT 1
              FOR KEY SHARE OF u SKIP LOCKED FOR NO KEY UPDATE OF d SKIP LOCKED
         ), taken AS (
           DELETE FROM sandbox_planned_events WHERE id IN (
             SELECT e.id FROM sandbox_planned_events e JOIN driver ON driver.user_id = e.user_id
              WHERE e.due_at <= now() + make_interval(secs => $1) ORDER BY e.due_at, e.id LIMIT ${BATCH})
           RETURNING id, user_id, owner_id, due_at, occurred_at, type, data
         )
         SELECT owner_id AS "ownerId", user_id AS "userId", type, occurred_at AS "occurredAt", data
           FROM taken ORDER BY due_at, id`,
        [aheadSeconds],
      );
    if (rows.length === 0) return undefined;
    return {
      ownerId: rows[0]!.ownerId,
      events: rows.map(({ userId, type, occurredAt, data }) => ({
        userId,
        type,
        timestamp: occurredAt.toISOString(),
        data,
      })),
    };
  }

  /** Seconds until the next event is due; null if none is planned. */
  async secondsUntilNext(aheadSeconds: number): Promise<number | null> {
    const row = await this.planned
      .createQueryBuilder('planned')
      .select('extract(epoch FROM min(planned.dueAt) - now())::float8 - :aheadSeconds', 'seconds')
      .setParameters({ aheadSeconds })
      .getRawOne<{ seconds: number | null }>();
    return row!.seconds;
  }
}
