import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity } from 'typeorm';
import type { OpenedPortal } from './portal-visitor.js';
import {
  belongingTo,
  IS_LIVE,
  JOIN_DEPENDENCIES,
  OPENED_PORTAL_COLUMNS,
  type PortalsOf,
} from './opened-portal.sql.js';
import { TextOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** A browser session that a one-time link opened, in the portal of one client. A member's is in member-sessions.repository.ts. */
@Entity('portal_sessions')
export class LinkSessionEntity extends IssuedSecret {
  @Column('text') clientId!: string;
  /** The grant of the owner's token that requested the link; null for a client-credentials token. */
  @TextOrNull() grantId!: string | null;
}

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
