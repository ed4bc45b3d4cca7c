import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A started sign-in that has not come back from the provider yet. */
@Entity('provider_sign_ins')
export class ProviderSignInEntity {
  @PrimaryColumn('bytea') stateDigest!: Buffer;
  @Column('bytea') browserDigest!: Buffer;
  /** The provider's id in the settings. */
  @Column('text') provider!: string;
  /** The nonce and the PKCE verifier, sealed. */
  @Column('bytea') sealed!: Buffer;
  @TextOrNull() returnTo!: string | null;
  /** The logged-in user who has to authenticate again; null for a login. */
  @TextOrNull() userId!: string | null;
  @Column('timestamptz') expiresAt!: Date;
}

/** What is stored of a started sign-in. */
export type StartedSignIn = Pick<ProviderSignInEntity, 'sealed' | 'returnTo' | 'userId'>;

interface Key {
  stateDigest: Buffer;
  browserDigest: Buffer;
  provider: string;
}

@Injectable()
export class ProviderSignInsRepository {
  constructor(
    @InjectRepository(ProviderSignInEntity) private readonly signIns: Repository<ProviderSignInEntity>,
  ) {}

  async insert(signIn: Omit<ProviderSignInEntity, 'expiresAt'>, seconds: number): Promise<void> {
    await this.signIns
      .createQueryBuilder()
      .insert()
      .values({ ...signIn, expiresAt: () => `now() + make_interval(secs => ${Number(seconds)})` })
      .execute();
  }

  /**
   * Consumes a started sign-in of this browser in one statement, so that it works once. Undefined if it is used, too old or
   * unknown.
   */
  async use(key: Key): Promise<StartedSignIn | undefined> {
    const { raw } = await this.signIns
      .createQueryBuilder()
      .delete()
      .where(
        'stateDigest = :stateDigest AND browserDigest = :browserDigest AND provider = :provider AND expiresAt > now()',
        key,
      )
      .returning('sealed, return_to AS "returnTo", user_id AS "userId"')
      .execute();
    return (raw as StartedSignIn[])[0];
  }

  /** Whether this browser has started a sign-in with the provider that has not come back. */
  isUnderWay({ browserDigest, provider }: Omit<Key, 'stateDigest'>): Promise<boolean> {
    return this.signIns
      .createQueryBuilder('signIn')
      .where(
        'signIn.browserDigest = :browserDigest AND signIn.provider = :provider AND signIn.expiresAt > now()',
        { browserDigest, provider },
      )
      .getExists();
  }
}
