import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** A stored key. */
export interface TokenKeyRow {
  id: number;
  sealed: Buffer;
  createdAt: Date;
  retiredAt: Date | null;
  revokedAt: Date | null;
  accessTtl: number;
  grantTtl: number;
}

/** The longest lifetimes of tokens and grants of a key, in seconds. */
interface Lifetimes {
  accessTtl: number;
  grantTtl: number;
}

@Injectable()
export class TokenKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** All keys, newest first. */
  all(): Promise<TokenKeyRow[]> {
    return this.dataSource.query(
      `SELECT id::float8 AS id, sealed, created_at AS "createdAt", retired_at AS "retiredAt", revoked_at AS "revokedAt",
              access_ttl AS "accessTtl", grant_ttl AS "grantTtl"
         FROM token_keys ORDER BY created_at DESC, id`,
    );
  }

  /** Makes this the signing key unless there is one: of several instances that start at once, only one inserts a key. */
  async insert(
    id: number,
    sealed: Buffer,
    { accessTtl, grantTtl }: Lifetimes,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<boolean> {
    const rows: unknown[] = await manager.query(
      `INSERT INTO token_keys (id, sealed, access_ttl, grant_ttl) VALUES ($1, $2, $3, $4)
       ON CONFLICT ((true)) WHERE retired_at IS NULL DO NOTHING RETURNING id`,
      [id, sealed, accessTtl, grantTtl],
    );
    return rows.length === 1;
  }

  /** Raises the recorded lifetimes of the key's tokens. */
  async raiseLifetimes(id: number, { accessTtl, grantTtl }: Lifetimes): Promise<void> {
    await this.dataSource.query(
      `UPDATE token_keys SET access_ttl = greatest(access_ttl, $2), grant_ttl = greatest(grant_ttl, $3) WHERE id = $1`,
      [id, accessTtl, grantTtl],
    );
  }

  /** Stops signing with the current key if it is older than this many days; false if it is not. */
  async retire(manager: EntityManager, olderThanDays: number): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE token_keys SET retired_at = now()
        WHERE retired_at IS NULL AND created_at <= now() - make_interval(days => $1)`,
      [olderThanDays],
    );
    return count === 1;
  }

  /** Revokes a key; false if there is none, or it is already revoked. */
  async revoke(manager: EntityManager, id: number): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE token_keys SET revoked_at = now(), retired_at = coalesce(retired_at, now())
        WHERE id = $1 AND revoked_at IS NULL`,
      [id],
    );
    return count === 1;
  }

  /** Replaces the sealed form of the key, unless it has changed meanwhile. */
  async replaceSealed(id: number, sealed: Buffer, fresh: Buffer): Promise<boolean> {
    const [, count]: [unknown[], number] = await this.dataSource.query(
      'UPDATE token_keys SET sealed = $3 WHERE id = $1 AND sealed = $2',
      [id, sealed, fresh],
    );
    return count === 1;
  }
}
