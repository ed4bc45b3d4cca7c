import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { OpenedPortal } from './opened-portal.js';
import {
  belongingTo,
  IS_LIVE,
  JOIN_DEPENDENCIES,
  OPENED_PORTAL_COLUMNS,
  type PortalsOf,
} from './opened-portal.sql.js';
import { LinkSessionEntity } from './link-session.entity.js';

/** The sessions that one-time links opened; `PortalLinksRepository.redeem` starts them. */
@Injectable()
export class LinkSessionsRepository {
  constructor(
    @InjectRepository(LinkSessionEntity) private readonly sessions: Repository<LinkSessionEntity>,
  ) {}

  /** The portal that an active session of a link opens. In SQL: one join over several modules' tables. */
  async find(digest: Buffer): Promise<OpenedPortal | undefined> {
    const [row]: OpenedPortal[] = await this.sessions.query(
      `SELECT ${OPENED_PORTAL_COLUMNS} FROM portal_sessions p ${JOIN_DEPENDENCIES} WHERE p.digest = $1 AND ${IS_LIVE}`,
      [digest],
    );
    return row;
  }

  async delete(digest: Buffer): Promise<void> {
    await this.sessions.delete({ digest });
  }

  /** Ends the sessions of a client, or of all clients of an owner. */
  async deleteAll(of: PortalsOf): Promise<void> {
    await this.sessions.delete(belongingTo(of));
  }
}
