import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { LogoutTokenEntity } from './logout-token.entity.js';

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
