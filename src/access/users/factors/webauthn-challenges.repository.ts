import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A challenge that one browser may answer once; only the digest of the cookie that it is derived from is stored. */
@Entity('webauthn_challenges')
export class WebauthnChallengeEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  /** Who adds a passkey; null for a sign-in. */
  @TextOrNull() userId!: string | null;
  @Column('timestamptz') expiresAt!: Date;
}

@Injectable()
export class WebauthnChallengesRepository {
  constructor(
    @InjectRepository(WebauthnChallengeEntity)
    private readonly challenges: Repository<WebauthnChallengeEntity>,
  ) {}

  async insert(digest: Buffer, userId: string | null, ttl: number): Promise<void> {
    await this.challenges
      .createQueryBuilder()
      .insert()
      .values({ digest, userId, expiresAt: () => 'now() + make_interval(secs => :ttl)' })
      .setParameter('ttl', ttl)
      .execute();
  }

  /** Uses up a challenge; false if it was used, has expired or is for someone or something else. */
  async use(digest: Buffer, userId: string | null): Promise<boolean> {
    const { affected } = await this.challenges
      .createQueryBuilder()
      .delete()
      .where('digest = :digest AND userId IS NOT DISTINCT FROM :userId AND expiresAt > now()', {
        digest,
        userId,
      })
      .execute();
    return affected === 1;
  }
}
