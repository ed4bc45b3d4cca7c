import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { consentIsLive } from '#access/consents/consent.sql.js';
import { readPageBySql, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import type { Driver, Sandbox } from './driver.js';

/** What a driver of a sandbox is besides a user: the seed, from which the vehicle and all sessions follow. */
@Entity('sandbox_drivers')
export class DriverEntity {
  @PrimaryColumn('text') userId!: string;
  @Column('text') ownerId!: string;
  @Column('integer') seed!: number;
  /** How many sessions and bursts were planned. */
  @Column('integer') sessions!: number;
}

@Injectable()
export class DriversRepository {
  constructor(@InjectRepository(DriverEntity) private readonly drivers: Repository<DriverEntity>) {}

  /**
   * Locks the owner until the transaction ends, so that what an owner has can be counted. Taken before the locks on drivers. False
   * if there is no such owner.
   */
  async lockOwner(ownerId: string): Promise<boolean> {
    const owner = await this.drivers.manager.findOne(UserEntity, {
      select: { id: true },
      where: { id: ownerId },
      lock: { mode: 'for_no_key_update' },
    });
    return owner !== null;
  }

  count(ownerId: string): Promise<number> {
    return this.drivers.countBy({ ownerId });
  }

  async insert(driver: Omit<DriverEntity, 'sessions'>): Promise<void> {
    await this.drivers.insert(driver);
  }

  /** One page by id; with `id`, only that driver. In SQL: a join over several modules' tables. */
  list({ clientId, ownerId }: Sandbox, page: PageRequest, id?: string): Promise<Page<Driver>> {
    return readPageBySql(page, 'd.user_id', 'asc', (part) => {
      const params: unknown[] = [ownerId, clientId];
      const { where, orderAndLimit } = part(params);
      const one = id === undefined ? 'true' : `d.user_id = $${params.push(id)}`;
      return this.drivers.query(
        `SELECT u.id, u.name, d.seed, coalesce(k.scopes, '{}') AS scopes, k.client_id IS NOT NULL AS "hasConsent",
                run.occurred_at IS NOT NULL AS "isRunning", run.occurred_at AS "endsAt",
                (SELECT count(*)::int FROM sandbox_planned_events e WHERE e.user_id = d.user_id) AS waiting
           FROM sandbox_drivers d JOIN users u ON u.id = d.user_id
           LEFT JOIN sandbox_planned_events run ON run.user_id = d.user_id AND run.ends_session
           LEFT JOIN consents k ON k.client_id = $2 AND k.user_id = d.user_id AND ${consentIsLive('k')}
          WHERE d.owner_id = $1 AND ${one} AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }

  /**
   * Reserves the numbers of sessions of a driver of this owner: its seed and the first number; undefined if there is no such
   * driver.
   */
  async reserve(
    ownerId: string,
    userId: string,
    count: number,
  ): Promise<{ seed: number; number: number } | undefined> {
    const { raw } = await this.drivers
      .createQueryBuilder()
      .update()
      .set({ sessions: () => 'sessions + :count' })
      .where('user_id = :userId AND owner_id = :ownerId')
      .setParameters({ userId, ownerId, count })
      .returning('seed, sessions')
      .execute();
    const [row] = raw as { seed: number; sessions: number }[];
    return row && { seed: row.seed, number: row.sessions - count + 1 };
  }
}
