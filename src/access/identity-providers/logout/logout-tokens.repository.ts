import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';

/** A logout token that was used: its `jti` works once. */
@Entity('logout_tokens')
export class LogoutTokenEntity {
  /** The id of the provider in the settings; of several entries with one client, that of the first. */
  @PrimaryColumn('text') provider!: string;
  @PrimaryColumn('bytea') jtiDigest!: Buffer;
  /** When the token is too old to be accepted anyway. */
  @Column('timestamptz') expiresAt!: Date;
}

@Injectable()
export class LogoutTokensRepository {
  constructor(@InjectRepository(LogoutTokenEntity) private readonly tokens: Repository<LogoutTokenEntity>) {}

  /** Uses up a token, in one statement; false if it was used before. */
  async use(token: Pick<LogoutTokenEntity, 'provider' | 'jtiDigest'>, keptSeconds: number): Promise<boolean> {
    const { raw } = await this.tokens
      .createQueryBuilder()
      .insert()
      .values({ ...token, expiresAt: () => `now() + make_interval(secs => ${Number(keptSeconds)})` })
      .orIgnore()
      .returning(['provider'])
      .execute();
    return (raw as unknown[]).length === 1;
  }
}
