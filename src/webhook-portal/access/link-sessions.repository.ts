import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { EntityManager, Repository } from 'typeorm';
import type { PortalsOf } from '../../users/accounts/access-revocations.js';
import type { PortalOwner } from './portal-owner.js';
import { belongingTo, IS_LIVE, JOIN_DEPENDENCIES, OWNER_COLUMNS } from './portal-owner.sql.js';
import { PortalSessionEntity } from './portal-session.entity.js';

@Injectable()
export class PortalSessionsRepository {
  constructor(
    @InjectRepository(PortalSessionEntity) private readonly sessions: Repository<PortalSessionEntity>,
  ) {}

  /** The portal that an active session opens. In SQL: one join over several modules' tables. */
  async find(digest: Buffer): Promise<PortalOwner | undefined> {
    const [row]: PortalOwner[] = await this.sessions.query(
      `SELECT ${OWNER_COLUMNS} FROM portal_sessions p ${JOIN_DEPENDENCIES} WHERE p.digest = $1 AND ${IS_LIVE}`,
      [digest],
    );
    return row;
  }

  async delete(digest: Buffer, manager: EntityManager = this.sessions.manager): Promise<void> {
    await manager.withRepository(this.sessions).delete({ digest });
  }

  /** Ends the sessions of a client, or of all clients of an owner. */
  async deleteAll(manager: EntityManager, of: PortalsOf): Promise<void> {
    await manager.withRepository(this.sessions).delete(belongingTo(of));
  }
}
