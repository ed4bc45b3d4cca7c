import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { LogoutTokenEntity } from './logout-token.entity.js';
import { queryIn } from '#platform/database/queries/query-in.js';

@Injectable()
export class LogoutTokensRepository {
  constructor(@InjectRepository(LogoutTokenEntity) private readonly tokens: Repository<LogoutTokenEntity>) {}

  /** Uses up a token, in one statement; false if it was used before. */
  async use(
    manager: EntityManager,
    token: Pick<LogoutTokenEntity, 'provider' | 'jtiDigest'>,
    keptSeconds: number,
  ): Promise<boolean> {
    const { raw } = await queryIn(manager, this.tokens)
      .insert()
      .values({ ...token, expiresAt: () => `now() + make_interval(secs => ${Number(keptSeconds)})` })
      .orIgnore()
      .returning(['provider'])
      .execute();
    return (raw as unknown[]).length === 1;
  }
}
