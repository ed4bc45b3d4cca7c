import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { OneTimeLinks } from '#platform/database/queries/one-time-links.js';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** The one-time link to a person's data (contract §13); the data is read when it is used. */
@Entity('data_exports')
export class DataExportEntity {
  @PrimaryColumn('text') userId!: string;
  @Column('bytea') digest!: Buffer;
  @Column({ type: 'timestamptz', insert: false }) createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  @TimeOrNull() usedAt!: Date | null;
}

@Injectable()
export class DataExportsRepository {
  private readonly oneTime: OneTimeLinks<DataExportEntity>;

  constructor(@InjectRepository(DataExportEntity) private readonly exports: Repository<DataExportEntity>) {
    this.oneTime = new OneTimeLinks(exports, { digest: 'digest', expiresAt: 'expiresAt', usedAt: 'usedAt' });
  }

  /** Gives the user a link, in place of an earlier one. */
  async replace({ userId, digest, ttl }: { userId: string; digest: Buffer; ttl: number }): Promise<void> {
    // By hand: the times are the database's, also where the row is there already.
    await this.exports.manager.query(
      `INSERT INTO data_exports (user_id, digest, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
       ON CONFLICT (user_id) DO UPDATE
         SET digest = excluded.digest, created_at = now(), expires_at = excluded.expires_at, used_at = NULL`,
      [userId, digest, ttl],
    );
  }

  /** A link that works for this user. */
  find(userId: string, digest: Buffer): Promise<DataExportEntity | undefined> {
    return this.oneTime.find(digest, { userId });
  }

  /** The user's link, which may be used or expired. */
  async findOf(userId: string): Promise<DataExportEntity | undefined> {
    return (await this.exports.findOneBy({ userId })) ?? undefined;
  }

  /** Uses up a link of this user, once; undefined if it no longer works. */
  use(userId: string, digest: Buffer): Promise<DataExportEntity | undefined> {
    return this.oneTime.use(digest, { userId });
  }

  /** Gives back a link for which nothing was sent. */
  async giveBack(userId: string, digest: Buffer): Promise<void> {
    await this.exports.update({ userId, digest }, { usedAt: null });
  }
}
