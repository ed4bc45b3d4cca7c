import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, Repository, Column, Entity, PrimaryColumn } from 'typeorm';

/** The authenticator app of a user (RFC 6238). */
@Entity('authenticator_apps')
export class AuthenticatorAppEntity {
  @PrimaryColumn('text') userId!: string;
  /** The secret in base32, sealed for this user. */
  @Column('bytea') sealedSecret!: Buffer;
  /** The time step of the last code that was used. Codes of this step or earlier ones are refused. */
  @Column('bigint', { transformer: { from: Number, to: (step: unknown) => step } }) lastStep!: number;
  @Column({ type: 'timestamptz' }) confirmedAt!: Date;
}

@Injectable()
export class AuthenticatorAppsRepository {
  constructor(
    @InjectRepository(AuthenticatorAppEntity) private readonly apps: Repository<AuthenticatorAppEntity>,
  ) {}

  find(userId: string): Promise<AuthenticatorAppEntity | null> {
    return this.apps.findOneBy({ userId });
  }

  /** Stores the user's app, in place of the one before. */
  async replace(userId: string, sealedSecret: Buffer, lastStep: number): Promise<void> {
    await this.apps.upsert({ userId, sealedSecret, lastStep, confirmedAt: () => 'now()' }, ['userId']);
  }

  /** Uses up a time step and those before it. False if that was done already, or the app is another by now. */
  async useStep({ userId, sealedSecret }: AuthenticatorAppEntity, step: number): Promise<boolean> {
    const { affected } = await this.apps
      .createQueryBuilder()
      .update()
      .set({ lastStep: step })
      .where('userId = :userId AND sealedSecret = :sealedSecret AND lastStep < :step', {
        userId,
        sealedSecret,
        step,
      })
      .execute();
    return affected === 1;
  }

  /** Removes the user's app; false if not found. */
  async delete(userId: string): Promise<boolean> {
    const { affected } = await this.apps.delete({ userId });
    return affected === 1;
  }

  /** The next apps by the id of their user, for resealing. */
  sealedAfter(userId: string, limit: number): Promise<AuthenticatorAppEntity[]> {
    return this.apps.find({ where: { userId: MoreThan(userId) }, order: { userId: 'ASC' }, take: limit });
  }

  /** Replaces a sealed secret unless it was changed in the meantime. */
  async replaceSealed({ userId, sealedSecret }: AuthenticatorAppEntity, fresh: Buffer): Promise<boolean> {
    const { affected } = await this.apps.update({ userId, sealedSecret }, { sealedSecret: fresh });
    return affected === 1;
  }
}
