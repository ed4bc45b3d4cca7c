import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import { newId } from '../secrets/ids.js';
import type { UserEntity, UserRole } from './user.entity.js';

/** The user of a browser session, as pages need it. */
export interface SignedInUser {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  /** The digest of the session, for binding forms to it. */
  sessionDigest: Buffer;
  /** Whether the password was entered in this session within the last 15 minutes. */
  gavePasswordRecently: boolean;
}

/** A browser session, as its user sees it. */
export interface SessionView {
  id: string;
  createdAt: Date;
  lastSeenAt: Date;
  address: string | null;
  userAgent: string | null;
}

export interface SessionDetails {
  ttl: number;
  address: string | null;
  userAgent: string | null;
}

const VIEW =
  'id, created_at AS "createdAt", last_seen_at AS "lastSeenAt", address, user_agent AS "userAgent"';
// `last_seen_at` is written at most this often: not every page view is a write.
const SEEN_AGAIN_AFTER = "interval '5 minutes'";
// After this time, the console asks for the password again before critical actions.
const RECENTLY = "interval '15 minutes'";

@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The user, and whether `touch` is due. */
  async find(digest: Buffer): Promise<{ user: SignedInUser; seenLongAgo: boolean } | undefined> {
    const [row]: (SignedInUser & { seenLongAgo: boolean })[] = await this.dataSource.query(
      `SELECT u.id, u.name, u.email, u.role, s.digest AS "sessionDigest",
              s.created_at > now() - ${RECENTLY} AS "gavePasswordRecently",
              s.last_seen_at < now() - ${SEEN_AGAIN_AFTER} AS "seenLongAgo"
         FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.digest = $1 AND s.expires_at > now() AND u.enabled`,
      [digest],
    );
    if (!row) return undefined;
    const { seenLongAgo, ...user } = row;
    return { user, seenLongAgo };
  }

  /** Updates the time when the session was last seen, at most once in 5 minutes. */
  async touch(digest: Buffer): Promise<void> {
    await this.dataSource.query(
      `UPDATE sessions SET last_seen_at = now()
        WHERE digest = $1 AND last_seen_at < now() - ${SEEN_AGAIN_AFTER}`,
      [digest],
    );
  }

  /** The session, as its user sees it. */
  async view(digest: Buffer): Promise<SessionView | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT ${VIEW} FROM sessions WHERE digest = $1 AND expires_at > now()`,
      [digest],
    );
    return row;
  }

  /** One page of the user's live sessions except one, newest first. */
  async listOthers(userId: string, digest: Buffer, page: PageRequest): Promise<Page<SessionView>> {
    return readPageBySql(page, 'id', 'desc', (part) => {
      const params: unknown[] = [userId, digest];
      const { where, orderAndLimit } = part(params);
      return this.dataSource.query(
        `SELECT ${VIEW} FROM sessions
          WHERE user_id = $1 AND digest <> $2 AND expires_at > now() AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }

  /** Starts a session unless the user was disabled or got another password or email since `user` was read. */
  async insert(
    manager: EntityManager,
    digest: Buffer,
    user: UserEntity,
    details: SessionDetails,
  ): Promise<boolean> {
    const rows: unknown[] = await manager.query(
      `WITH owner AS (
         SELECT id FROM users
          WHERE id = $2 AND enabled AND password_hash = $3 AND email = $4 FOR SHARE
       )
       INSERT INTO sessions (digest, user_id, expires_at, address, user_agent, id)
       SELECT $1, id, now() + make_interval(secs => $5), $6, $7, $8 FROM owner
       RETURNING 1`,
      [
        digest,
        user.id,
        user.passwordHash,
        user.email,
        details.ttl,
        details.address,
        details.userAgent,
        newId('sess'),
      ],
    );
    return rows.length === 1;
  }

  /** Ends a session; returns the id of its user. */
  async delete(manager: EntityManager, digest: Buffer): Promise<string | undefined> {
    const [rows]: [{ user_id: string }[], number] = await manager.query(
      'DELETE FROM sessions WHERE digest = $1 RETURNING user_id',
      [digest],
    );
    return rows[0]?.user_id;
  }

  /** Ends one live session of the user; false if there is none with this id. */
  async deleteOne(manager: EntityManager, userId: string, id: string): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      'DELETE FROM sessions WHERE id = $1 AND user_id = $2 AND expires_at > now()',
      [id, userId],
    );
    return count === 1;
  }

  /** Ends the user's sessions except one; returns the number of live ones among them. */
  async deleteOthers(manager: EntityManager, userId: string, digest: Buffer): Promise<number> {
    const [rows]: [{ live: boolean }[], number] = await manager.query(
      'DELETE FROM sessions WHERE user_id = $1 AND digest <> $2 RETURNING expires_at > now() AS live',
      [userId, digest],
    );
    return rows.filter(({ live }) => live).length;
  }

  /** Ends all sessions of the user. Returns whether the session with this digest was live. */
  async deleteAll(manager: EntityManager, userId: string, digest: Buffer): Promise<boolean> {
    const [rows]: [{ present: boolean }[], number] = await manager.query(
      'DELETE FROM sessions WHERE user_id = $1 RETURNING digest = $2 AND expires_at > now() AS present',
      [userId, digest],
    );
    return rows.some(({ present }) => present);
  }
}
