import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import type { UserEntity } from '../accounts/user.entity.js';

/** A sign-in between the password and the second factor; only the digest of the cookie's value is stored. */
@Entity('pending_sign_ins')
export class PendingSignInEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('text') userId!: string;
  /** A digest of the password's hash and the email address of the account as they were. */
  @Column('bytea') accountMark!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

@Injectable()
export class PendingSignInsRepository {
  constructor(
    @InjectRepository(PendingSignInEntity) private readonly pending: Repository<PendingSignInEntity>,
  ) {}

  /** Stores it, unless the user was disabled or got another password or email since `user` was read. */
  async insert(digest: Buffer, user: UserEntity, accountMark: Buffer, ttl: number): Promise<boolean> {
    // In SQL, because checking the user, locking it and the insert are one statement.
    const rows: unknown[] = await this.pending.query(
      `WITH owner AS (
         SELECT id FROM users
          WHERE id = $2 AND enabled AND password_hash IS NOT DISTINCT FROM $3 AND email = $4 FOR SHARE
       )
       INSERT INTO pending_sign_ins (digest, user_id, account_mark, expires_at)
       SELECT $1, id, $5, now() + make_interval(secs => $6) FROM owner
       RETURNING 1`,
      [digest, user.id, user.passwordHash, user.email, accountMark, ttl],
    );
    return rows.length === 1;
  }

  find(digest: Buffer): Promise<PendingSignInEntity | null> {
    return this.pending
      .createQueryBuilder('pending')
      .where('pending.digest = :digest AND pending.expiresAt > now()', { digest })
      .getOne();
  }

  /** Uses it up; false if it was used or has expired. */
  async use(digest: Buffer): Promise<boolean> {
    const { affected } = await this.pending
      .createQueryBuilder()
      .delete()
      .where('digest = :digest AND expiresAt > now()', { digest })
      .execute();
    return affected === 1;
  }

  async delete(digest: Buffer): Promise<void> {
    await this.pending.delete({ digest });
  }

  async deleteByUser(userId: string): Promise<void> {
    await this.pending.delete({ userId });
  }
}
