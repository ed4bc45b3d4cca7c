import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { EventContent } from '#events/webhooks/events/event.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';

/** An event of a driver that waits for its time. */
@Entity('sandbox_planned_events')
export class PlannedEventEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id!: string;
  @Column('text') userId!: string;
  @Column('text') ownerId!: string;
  @Column('timestamptz') dueAt!: Date;
  /** The time that it bears. */
  @Column('timestamptz') occurredAt!: Date;
  @Column('text') type!: string;
  @Column('jsonb') data!: object;
  @Column('boolean') endsSession!: boolean;
}

type PlannedRow = Pick<PlannedEventEntity, 'dueAt' | 'occurredAt' | 'type' | 'data' | 'endsSession'>;

/** Events whose time has come, all of one driver, in their order. */
export interface DueEvents {
  ownerId: string;
  userId: string;
  events: (EventContent & { plannedId: string })[];
}

// The advisory locks under which an instance publishes what a driver does.
const IN_HAND = 1_702_260_341;

// So that no transaction holds much for long.
const BATCH = 50;

@Injectable()
export class PlansRepository {
  constructor(
    @InjectRepository(PlannedEventEntity) private readonly planned: Repository<PlannedEventEntity>,
  ) {}

  /** The time of the transaction, by the database's clock. */
  async now(aheadSeconds: number): Promise<Date> {
    const [row]: { now: Date }[] = await this.planned.manager.query(
      'SELECT now() + make_interval(secs => $1) AS now',
      [aheadSeconds],
    );
    return row!.now;
  }

  countWaiting(ownerId: string): Promise<number> {
    return this.planned.countBy({ ownerId });
  }

  /** A second session that runs is a violation of `sandbox_planned_events_running_key`. */
  async insert(driver: { userId: string; ownerId: string }, events: PlannedRow[]): Promise<void> {
    await this.planned
      .createQueryBuilder()
      .insert()
      .values(events.map((event) => ({ ...event, ...driver })))
      .updateEntity(false)
      .execute();
  }

  /**
   * The first events that are due, of the driver who has waited longest and whom no other instance has in hand until the
   * transaction ends: what a driver does is published in its order. Writes nothing, and locks no row. In SQL, because it locks.
   */
  async findDue(aheadSeconds: number, passedOver: string[]): Promise<DueEvents | undefined> {
    requireTransaction('A lock that is to last');
    const rows: {
      id: string;
      ownerId: string;
      userId: string;
      type: string;
      occurredAt: Date;
      data: object;
    }[] = await this.planned.manager.query(
      `WITH waiting AS MATERIALIZED (
           SELECT user_id FROM sandbox_planned_events
            WHERE due_at <= now() + make_interval(secs => $1) AND user_id <> ALL ($2::text[])
            GROUP BY user_id ORDER BY min(due_at)
         ), driver AS MATERIALIZED (
           SELECT user_id FROM waiting WHERE pg_try_advisory_xact_lock(${IN_HAND}::int, hashtext(user_id)) LIMIT 1
         )
         SELECT e.id, e.owner_id AS "ownerId", e.user_id AS "userId", e.type, e.occurred_at AS "occurredAt", e.data
           FROM driver JOIN sandbox_planned_events e ON e.user_id = driver.user_id
          WHERE e.due_at <= now() + make_interval(secs => $1) ORDER BY e.due_at, e.id LIMIT ${BATCH}`,
      [aheadSeconds, passedOver],
    );
    const [first] = rows;
    return (
      first && {
        ownerId: first.ownerId,
        userId: first.userId,
        events: rows.map(({ id, userId, type, occurredAt, data }) => ({
          plannedId: id,
          userId,
          type,
          timestamp: occurredAt.toISOString(),
          data,
        })),
      }
    );
  }

  /**
   * Takes these events out of the plan. Returns the ids of those that were still there: none of a driver who is being erased. In
   * SQL, because it locks, then deletes.
   */
  async take({ userId, events }: DueEvents): Promise<Set<string>> {
    const rows: { id: string }[] = await this.planned.manager.query(
      `WITH driver AS MATERIALIZED (
         SELECT id FROM users WHERE id = $1 FOR KEY SHARE SKIP LOCKED
       ), taken AS (
         DELETE FROM sandbox_planned_events WHERE id = ANY ($2::bigint[]) AND user_id IN (SELECT id FROM driver) RETURNING id
       )
       SELECT id FROM taken`,
      [userId, events.map(({ plannedId }) => plannedId)],
    );
    return new Set(rows.map(({ id }) => id));
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
