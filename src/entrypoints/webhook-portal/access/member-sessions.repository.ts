import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository, Column, Entity } from 'typeorm';
import type { MemberRole } from '#events/partners/members/member.js';
import type { Environment } from '#access/users/accounts/environment.js';
import type { OpenedPortal } from './portal-visitor.js';
import {
  belongingTo,
  HAS_PORTAL,
  JOIN_OWNER,
  OPENED_PORTAL_COLUMNS,
  type PortalsOf,
} from './opened-portal.sql.js';
import { TextOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** A session of a logged-in member in the portal of one client (contract §20). */
@Entity('portal_member_sessions')
export class MemberSessionEntity extends IssuedSecret {
  @Column('text') clientId!: string;
  @Column('text') userId!: string;
  /** The organisation; null if the user is its own account. */
  @TextOrNull() memberOf!: string | null;
  /** The login that started it, with which it ends. */
  @Column('text') loginId!: string;
}

/** A session, as the database knows it; callers must also check that the login is still active. */
export interface MemberSession extends OpenedPortal {
  userId: string;
  loginId: string;
  role: MemberRole;
}

/** A client whose portal the user may open. */
export interface OpenableClient {
  id: string;
  name: string;
  logoId: string | null;
  environment: Environment;
  organisationId: string;
  organisationName: string;
  role: MemberRole;
  /** How many of its endpoints fail. */
  failing: number;
}

/** What the layout of a portal shows besides its client. */
export interface Portals {
  /** How many endpoints of the client fail. */
  failing: number;
  /** The first of the other clients whose portals the visitor may open. */
  others: OpenableClient[];
}

// More than anyone has, because the page has no paging.
const LISTED = 500;

/** The user's role in the organisation (`o`) that owns the client (`c`), as its own account or as a member (`m`). */
const ROLE = (user: string) => `CASE WHEN o.id = ${user} THEN 'admin' ELSE m.role END`;
// The partial index of the few that fail needs this condition.
const FAILING = (client: string) =>
  `(SELECT count(*)::int FROM webhook_endpoints e WHERE e.client_id = ${client} AND e.enabled AND e.failing_since IS NOT NULL AND e.deleted_at IS NULL)`;
const IS_MEMBER = (user: string) => `(o.id = ${user} OR m.role IS NOT NULL)`;

@Injectable()
export class MemberSessionsRepository {
  constructor(
    @InjectRepository(MemberSessionEntity) private readonly sessions: Repository<MemberSessionEntity>,
  ) {}

  /** The clients whose portals the user may open, `first` at the top. In SQL: one join over several modules' tables. */
  openable(userId: string, first: string | null = null, limit: number = LISTED): Promise<OpenableClient[]> {
    return this.sessions.query(
      `SELECT c.id, c.name, c.logo_id AS "logoId", c.environment, o.id AS "organisationId", o.name AS "organisationName", ${ROLE('$1')} AS role,
              ${FAILING('c.id')} AS failing
         FROM clients c
         ${JOIN_OWNER}
         LEFT JOIN organisation_members m ON m.organisation_id = o.id AND m.user_id = $1
        WHERE ${HAS_PORTAL} AND ${IS_MEMBER('$1')}
          AND c.owner_id = ANY (ARRAY(SELECT organisation_id FROM organisation_members WHERE user_id = $1) || $1::text)
        ORDER BY c.id = $2 DESC, o.name, o.id, c.name, c.id LIMIT $3`,
      [userId, first, limit],
    );
  }

  /** How many endpoints of a client fail. */
  async failingOf(clientId: string): Promise<number> {
    const [row]: { failing: number }[] = await this.sessions.query(`SELECT ${FAILING('$1')} AS failing`, [
      clientId,
    ]);
    return row!.failing;
  }

  /**
   * Starts a session; false if the user may not open the portal of this client. One statement, and in SQL, because what it depends on is
   * locked and checked by the write itself.
   */
  async start(session: {
    digest: Buffer;
    clientId: string;
    userId: string;
    loginId: string;
    ttl: number;
  }): Promise<boolean> {
    const rows: unknown[] = await this.sessions.manager.query(
      `WITH owner AS (
         SELECT c.id, o.id AS owner_id FROM clients c ${JOIN_OWNER}
          WHERE c.id = $2 AND ${HAS_PORTAL} FOR SHARE OF c, o
       )
       INSERT INTO portal_member_sessions (digest, client_id, user_id, member_of, login_id, expires_at)
       SELECT $1, o.id, $3, m.organisation_id, $4, now() + make_interval(secs => $5)
         FROM owner o LEFT JOIN organisation_members m ON m.organisation_id = o.owner_id AND m.user_id = $3
        WHERE o.owner_id = $3 OR m.role IS NOT NULL
       RETURNING 1`,
      [session.digest, session.clientId, session.userId, session.loginId, session.ttl],
    );
    return rows.length === 1;
  }

  /** An active session. In SQL: one join over several modules' tables. */
  async find(digest: Buffer): Promise<MemberSession | undefined> {
    const [row]: MemberSession[] = await this.sessions.query(
      `SELECT ${OPENED_PORTAL_COLUMNS}, p.user_id AS "userId", p.login_id AS "loginId", ${ROLE('p.user_id')} AS role
         FROM portal_member_sessions p
         JOIN clients c ON c.id = p.client_id AND ${HAS_PORTAL}
         ${JOIN_OWNER}
         LEFT JOIN organisation_members m ON m.organisation_id = o.id AND m.user_id = p.user_id
        WHERE p.digest = $1 AND p.expires_at > now() AND ${IS_MEMBER('p.user_id')}`,
      [digest],
    );
    return row;
  }

  /** The sessions of a user, newest first, up to a limit. */
  listOf(userId: string, limit: number): Promise<MemberSessionEntity[]> {
    return this.sessions.find({ where: { userId }, order: { createdAt: 'DESC' }, take: limit });
  }

  async delete(digest: Buffer): Promise<void> {
    await this.sessions.delete({ digest });
  }

  /** Ends the sessions of a client, or of all clients of an owner. */
  async deleteAll(of: PortalsOf): Promise<void> {
    await this.sessions.delete(belongingTo(of));
  }
}
