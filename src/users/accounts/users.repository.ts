import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import type { OperatorRole } from '../../audit/operator-role.js';
import { readPage, type Page, type PageRequest } from '../../database/queries/read-page.js';
import { searchFor } from '../../database/queries/search.js';
import { emailKeyOf } from './email.js';
import { UserEntity } from './user.entity.js';

/** An account without what the repository and the database add. */
export type UserValues = Omit<UserEntity, 'emailKey' | 'createdAt' | 'updatedAt'>;

/** All given members must match. */
export interface UserFilter {
  q?: string;
  operatorRole?: OperatorRole;
}

@Injectable()
export class UsersRepository {
  constructor(@InjectRepository(UserEntity) private readonly users: Repository<UserEntity>) {}

  findById(id: string, manager: EntityManager = this.users.manager): Promise<UserEntity | null> {
    return manager.withRepository(this.users).findOneBy({ id });
  }

  findByEmail(email: string): Promise<UserEntity | null> {
    return this.users.findOneBy({ emailKey: emailKeyOf(email) });
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
    return manager.withRepository(this.users).findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** Locks the row exclusively, also against new references to it; false if there is none. */
  async lockForErasure(manager: EntityManager, id: string): Promise<boolean> {
    const user = await manager
      .withRepository(this.users)
      .findOne({ select: { id: true }, where: { id }, lock: { mode: 'pessimistic_write' } });
    return user !== null;
  }

  /**
   * Locks all enabled admins, in the order of their ids, until the transaction ends, and returns their ids: changes that might
   * leave none wait for each other. Taken before the lock on the user who changes.
   */
  async lockAdmins(manager: EntityManager): Promise<string[]> {
    const admins = await manager.withRepository(this.users).find({
      select: { id: true },
      where: { operatorRole: 'admin', enabled: true },
      order: { id: 'ASC' },
      lock: { mode: 'for_no_key_update' },
    });
    return admins.map(({ id }) => id);
  }

  /** The user, who stays unchanged until the transaction ends. */
  hold(manager: EntityManager, id: string): Promise<UserEntity | null> {
    return manager.withRepository(this.users).findOne({ where: { id }, lock: { mode: 'pessimistic_read' } });
  }

  async insert(manager: EntityManager, user: UserValues): Promise<void> {
    await manager.withRepository(this.users).insert({ ...user, emailKey: emailKeyOf(user.email) });
  }

  /** Members that are undefined stay as they are. */
  async update(manager: EntityManager, id: string, changes: Partial<Omit<UserValues, 'id'>>): Promise<void> {
    const emailKey = changes.email === undefined ? undefined : emailKeyOf(changes.email);
    await manager
      .withRepository(this.users)
      .update({ id }, { ...changes, emailKey, updatedAt: () => 'now()' });
  }

  /** Replaces the password hash that `user` was read with; false if that is no longer the current one. */
  async replacePassword(manager: EntityManager, user: UserEntity, passwordHash: string): Promise<boolean> {
    const { affected } = await manager
      .withRepository(this.users)
      .createQueryBuilder()
      .update()
      .set({ passwordHash, updatedAt: () => 'now()' })
      .where('id = :id AND passwordHash = :current AND enabled', { id: user.id, current: user.passwordHash })
      .execute();
    return affected === 1;
  }

  async delete(manager: EntityManager, id: string): Promise<void> {
    await manager.withRepository(this.users).delete({ id });
  }

  /** Removes what the audit log says about the user, except ids. */
  async forgetInAuditLog(manager: EntityManager, id: string): Promise<void> {
    // By a function of the database: the service's role cannot change the log itself.
    await manager.query('SELECT forget_in_audit_events($1)', [id]);
  }

  /** One page by id; `q` is part of the email or name, or an id. */
  list({ q, operatorRole }: UserFilter, page: PageRequest): Promise<Page<UserEntity>> {
    const query = this.users.createQueryBuilder('user');
    if (q !== undefined) query.where(...searchFor(q, 'user', ['email', 'name']));
    if (operatorRole !== undefined) query.andWhere('user.operatorRole = :operatorRole', { operatorRole });
    return readPage(page, 'user.id', 'asc', query);
  }

  private withPassword() {
    return this.users.createQueryBuilder('user').addSelect('user.passwordHash');
  }
}
