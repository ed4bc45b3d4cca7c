import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import { searchSql } from '../database/search-sql.js';
import { emailKeyOf } from './email.js';
import { UserEntity } from './user.entity.js';

@Injectable()
export class UsersRepository {
  constructor(private readonly dataSource: DataSource) {}

  findById(id: string, manager: EntityManager = this.dataSource.manager): Promise<UserEntity | null> {
    return manager.findOneBy(UserEntity, { id });
  }

  findByEmail(email: string): Promise<UserEntity | null> {
    return this.dataSource.manager.findOneBy(UserEntity, { emailKey: emailKeyOf(email) });
  }

  /** The user with the password hash, for logging in. */
  findByEmailWithPassword(email: string): Promise<UserEntity | null> {
    return this.withPassword()
      .where('user.emailKey = :key', { key: emailKeyOf(email) })
      .getOne();
  }

  findByIdWithPassword(id: string): Promise<UserEntity | null> {
    return this.withPassword().where('user.id = :id', { id }).getOne();
  }

  /** Reads the row and locks it until the transaction ends, so that nothing new is issued based on it meanwhile. */
  lock(manager: EntityManager, id: string): Promise<UserEntity | null> {
    return manager.findOne(UserEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** Locks the row exclusively, also against new references to it; false if there is none. */
  async lockForErasure(manager: EntityManager, id: string): Promise<boolean> {
    const rows: unknown[] = await manager.query('SELECT 1 FROM users WHERE id = $1 FOR UPDATE', [id]);
    return rows.length === 1;
  }

  /** Replaces the password hash that `user` was read with; false if that is no longer the current one. */
  async replacePassword(manager: EntityManager, user: UserEntity, passwordHash: string): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE users SET password_hash = $3, updated_at = now()
        WHERE id = $1 AND password_hash = $2 AND enabled`,
      [user.id, user.passwordHash, passwordHash],
    );
    return count === 1;
  }

  /** One page by id; `q` is part of the email or name, or an id. */
  async list(q: string | undefined, page: PageRequest): Promise<Page<UserEntity>> {
    return readPageBySql(page, 'id', 'asc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const search = q === undefined ? 'true' : searchSql(params, q, ['email', 'name']);
      const rows: { id: string }[] = await this.dataSource.query(
        `SELECT id, email, name, kind, role, webhooks_enabled AS "webhooksEnabled", enabled,
                created_at AS "createdAt", updated_at AS "updatedAt"
           FROM users WHERE ${search} AND ${where} ${orderAndLimit}`,
        params,
      );
      return rows.map((row) => this.dataSource.manager.create(UserEntity, row));
    });
  }

  private withPassword() {
    return this.dataSource
      .getRepository(UserEntity)
      .createQueryBuilder('user')
      .addSelect('user.passwordHash');
  }
}
