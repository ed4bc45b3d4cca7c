import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { UserEntity, UserRole } from './user.entity.js';

/** The user behind a browser's session, as pages need it. */
export interface SignedInUser {
  id: string;
  name: string;
  email: string;
  role: UserRole;
  /** The session, for binding forms to it. */
  sessionDigest: Buffer;
}

export interface SessionDetails {
  ttl: number;
  address: string | null;
  userAgent: string | null;
}

@Injectable()
export class SessionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async find(digest: Buffer): Promise<SignedInUser | undefined> {
    const [row] = await this.dataSource.query(
      `SELECT u.id, u.name, u.email, u.role, s.digest AS "sessionDigest"
         FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.digest = $1 AND s.expires_at > now() AND u.enabled`,
      [digest],
    );
    return row;
  }

  /** Starts a session unless the user was disabled or given another password or e-mail address since `user` was read. */
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
       INSERT INTO sessions (digest, user_id, expires_at, address, user_agent)
       SELECT $1, id, now() + make_interval(secs => $5), $6, $7 FROM owner
       RETURNING 1`,
      [digest, user.id, user.passwordHash, user.email, details.ttl, details.address, details.userAgent],
    );
    return rows.length === 1;
  }

  /** Ends a session; the id of the user whose it was. */
  async delete(manager: EntityManager, digest: Buffer): Promise<string | undefined> {
    const [rows]: [{ user_id: string }[], number] = await manager.query(
      'DELETE FROM sessions WHERE digest = $1 RETURNING user_id',
      [digest],
    );
    return rows[0]?.user_id;
  }
}
