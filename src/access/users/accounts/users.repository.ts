import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Not, Repository } from 'typeorm';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { readPage, type Page, type PageRequest, searchFor } from '#platform/database/queries/read-page.js';
import type { Language } from '#platform/language/languages.js';
import type { OptionalMailKind } from '#records/mail/mail.entity.js';
import { emailKeyOf } from './email.js';
import { LIVE_REALM, type Environment } from './environment.js';
import type { PersonTraces } from '#access/domain/domain-events.js';
import { UserEntity } from './user.entity.js';

/** A new account, without the columns that the repository and the database add. */
export type UserValues = Omit<
  UserEntity,
  | 'emailKey'
  | 'emailVerifiedAt'
  | 'unwantedMails'
  | 'environment'
  | 'sandboxOwnerId'
  | 'realm'
  | 'createdAt'
  | 'updatedAt'
> & {
  /** Whether the email address counts as verified from now on; undefined changes nothing. */
  emailVerified?: boolean;
  /** Of a driver of a sandbox: its owner. */
  sandboxOwnerId?: string;
};

/** Selects users by id or by address. */
export interface NamedUsers {
  ids: readonly string[];
  emails: readonly string[];
  organisations?: boolean;
}

/** Rows per statement, because a statement takes at most 65,535 parameters. */
const INSERTED_AT_ONCE = 1_000;

/** All given members must match. */
export interface UserFilter {
  q?: string;
  operatorRole?: OperatorRole;
  environment?: Environment;
  isDisabled?: boolean;
}

@Injectable()
export class UsersRepository {
  constructor(@InjectRepository(UserEntity) private readonly users: Repository<UserEntity>) {}

  findById(id: string): Promise<UserEntity | null> {
    return this.users.findOneBy({ id });
  }

  namesOf(ids: string[]): Promise<Pick<UserEntity, 'id' | 'name'>[]> {
    return this.users.find({ select: { id: true, name: true }, where: { id: In(ids) } });
  }

  firstNames(limit: number, only?: 'operators'): Promise<Pick<UserEntity, 'id' | 'name'>[]> {
    const where = { environment: 'live' as const, ...(only && { operatorRole: Not(IsNull()) }) };
    return this.users.find({ select: { id: true, name: true }, where, order: { id: 'ASC' }, take: limit });
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

  /** Reads the row and locks it until the transaction ends, so that nothing new is issued based on it in the meantime. */
  lock(id: string): Promise<UserEntity | null> {
    return this.users.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** The same by one of its values, with the password hash. */
  lockWithPassword(by: { id: string } | { email: string }): Promise<UserEntity | null> {
    const query = this.users
      .createQueryBuilder('user')
      .addSelect('user.passwordHash')
      .setLock('for_no_key_update');
    return 'id' in by
      ? query.where('user.id = :id', by).getOne()
      : query.where('user.emailKey = :key', { key: emailKeyOf(by.email) }).getOne();
  }

  /** Locks the row exclusively, also against new references to it; false if not found. */
  async lockForErasure(id: string): Promise<boolean> {
    const user = await this.users.findOne({
      select: { id: true },
      where: { id },
      lock: { mode: 'pessimistic_write' },
    });
    return user !== null;
  }

  /**
   * Locks all enabled admins, in the order of their ids, until the transaction ends, and returns their ids: changes that could
   * remove the last admin wait for each other. Taken before the lock on the changed user.
   */
  async lockAdmins(): Promise<string[]> {
    const admins = await this.users.find({
      select: { id: true },
      where: { operatorRole: 'admin', enabled: true },
      order: { id: 'ASC' },
      lock: { mode: 'for_no_key_update' },
    });
    return admins.map(({ id }) => id);
  }

  /** The user, share-locked until the transaction ends. */
  hold(id: string): Promise<UserEntity | null> {
    return this.users.findOne({ where: { id }, lock: { mode: 'pessimistic_read' } });
  }

  insert(user: UserValues): Promise<void> {
    return this.insertAll([user]);
  }

  async insertAll(users: readonly UserValues[]): Promise<void> {
    const rows = users.map(({ emailVerified, sandboxOwnerId, ...user }) => ({
      ...user,
      emailKey: emailKeyOf(user.email),
      emailVerifiedAt: verifiedNow(emailVerified),
      environment: sandboxOwnerId === undefined ? ('live' as const) : ('sandbox' as const),
      sandboxOwnerId: sandboxOwnerId ?? null,
      realm: sandboxOwnerId ?? LIVE_REALM,
    }));
    for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE) {
      await this.users.insert(rows.slice(from, from + INSERTED_AT_ONCE));
    }
  }

  findAll(ids: readonly string[]): Promise<UserEntity[]> {
    return this.users.findBy({ id: In(ids) });
  }

  /** The live users with these ids or addresses; with `organisations`, also all organisations. By id. */
  listNamed({ ids, emails, organisations = false }: NamedUsers): Promise<UserEntity[]> {
    return this.users
      .createQueryBuilder('user')
      .where("user.environment = 'live'")
      .andWhere(
        "(user.id = ANY (:ids) OR user.emailKey = ANY (:keys) OR :organisations AND user.kind = 'organisation')",
        { ids, keys: emails.map(emailKeyOf), organisations },
      )
      .orderBy('user.id')
      .getMany();
  }

  /** Members that are undefined stay as they are. */
  async update(
    id: string,
    { emailVerified, ...changes }: Partial<Omit<UserValues, 'id' | 'sandboxOwnerId'>>,
  ): Promise<void> {
    const emailKey = changes.email === undefined ? undefined : emailKeyOf(changes.email);
    const emailVerifiedAt = verifiedNow(emailVerified);
    await this.users.update({ id }, { ...changes, emailKey, emailVerifiedAt, updatedAt: () => 'now()' });
  }

  /**
   * Marks the address as verified. False if the user is disabled or has another address by now. The time of the first
   * verification is kept.
   */
  async verifyEmail(id: string, email: string): Promise<boolean> {
    const { affected } = await this.users
      .createQueryBuilder()
      .update()
      .set({ emailVerifiedAt: () => 'coalesce(email_verified_at, now())' })
      .where('id = :id AND email = :email AND enabled', { id, email })
      .execute();
    return affected === 1;
  }

  async unwantedMails(id: string): Promise<OptionalMailKind[]> {
    const user = await this.users.findOne({ select: { id: true, unwantedMails: true }, where: { id } });
    return user?.unwantedMails ?? [];
  }

  async setUnwantedMails(id: string, unwantedMails: OptionalMailKind[]): Promise<void> {
    await this.users.update({ id }, { unwantedMails });
  }

  /** Remembers the language that the user has chosen. */
  async setLanguage(id: string, language: Language): Promise<void> {
    await this.users
      .createQueryBuilder()
      .update()
      .set({ language })
      .where('id = :id AND language IS DISTINCT FROM :language', { id, language })
      .execute();
  }

  /** Unsubscribes from one more kind of mail; returns all such kinds, or undefined if it was already among them. */
  async addUnwantedMail(id: string, kind: OptionalMailKind): Promise<OptionalMailKind[] | undefined> {
    const { raw } = await this.users
      .createQueryBuilder()
      .update()
      .set({ unwantedMails: () => 'array_append(unwanted_mails, :kind)' })
      .where('id = :id AND NOT :kind = ANY(unwanted_mails)', { id, kind })
      .returning('unwanted_mails AS "unwantedMails"')
      .execute();
    return (raw as { unwantedMails: OptionalMailKind[] }[])[0]?.unwantedMails;
  }

  /** Replaces the password hash that `user` was read with; false if that is no longer the current one. */
  async replacePassword(user: UserEntity, passwordHash: string): Promise<boolean> {
    const { affected } = await this.users
      .createQueryBuilder()
      .update()
      .set({ passwordHash, updatedAt: () => 'now()' })
      .where('id = :id AND passwordHash = :current AND enabled', { id: user.id, current: user.passwordHash })
      .execute();
    return affected === 1;
  }

  async delete(id: string): Promise<void> {
    await this.users.delete({ id });
  }

  /**
   * Values that may occur in rows without the user's id: all addresses known to sessions and the audit log. In SQL, because it
   * reads the log.
   */
  async tracesOf(id: string): Promise<PersonTraces> {
    const [found]: PersonTraces[] = await this.users.manager.query(
      `WITH entry AS (
         SELECT actor_id, actor_type, subject_id, action, before, after, address
           FROM audit_events WHERE subject_id = $1 OR actor_id = $1
       )
       SELECT ARRAY(SELECT email FROM users WHERE id = $1
                    UNION SELECT v.email FROM entry e, LATERAL (VALUES (e.before->>'email'), (e.after->>'email')) AS v (email)
                     WHERE e.subject_id = $1 AND e.action IN ('user.created', 'user.updated') AND v.email IS NOT NULL) AS emails,
              ARRAY(SELECT address FROM sessions WHERE user_id = $1 AND address IS NOT NULL
                    UNION SELECT address FROM entry
                     WHERE address IS NOT NULL AND (actor_id = $1 OR (actor_id IS NULL AND actor_type = 'user'))) AS addresses`,
      [id],
    );
    // A former address may belong to someone else by now.
    const emails: string[] = [];
    for (const email of found!.emails) {
      const holder = await this.findByEmail(email);
      if (!holder || holder.id === id) emails.push(email);
    }
    return { ...found!, emails };
  }

  /** Removes what the audit log says about the user, except ids. */
  async forgetInAuditLog(id: string): Promise<void> {
    // By a database function, because the service's role cannot change the log.
    await this.users.manager.query('SELECT forget_in_audit_events($1)', [id]);
  }

  /** One page by id; `q` is part of the email or name, or an id. Live ones, unless the filter says otherwise. */
  list(
    { q, operatorRole, environment = 'live', isDisabled }: UserFilter,
    page: PageRequest,
  ): Promise<Page<UserEntity>> {
    const query = this.users.createQueryBuilder('user');
    if (q !== undefined) query.where(...searchFor(q, 'user', ['email', 'name']));
    query.andWhere('user.environment = :environment', { environment });
    if (environment === 'sandbox') query.andWhere('user.sandboxOwnerId IS NOT NULL');
    if (operatorRole !== undefined) query.andWhere('user.operatorRole = :operatorRole', { operatorRole });
    if (isDisabled) query.andWhere('NOT user.enabled');
    return readPage(page, 'user.id', 'asc', query, { isSearch: q !== undefined });
  }

  private withPassword() {
    return this.users.createQueryBuilder('user').addSelect('user.passwordHash');
  }
}

/** Undefined changes nothing. */
const verifiedNow = (isVerified: boolean | undefined): (() => string) | null | undefined =>
  isVerified === undefined ? undefined : isVerified ? () => 'now()' : null;
