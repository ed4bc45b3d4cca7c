import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { ConsentVersionEntity, type VersionWithWords } from './consent-version.entity.js';
import { ConsentWordsRepository } from './consent-words.repository.js';

/** Reads the record of consents, which only the database writes. */
@Injectable()
export class ConsentVersionsRepository {
  constructor(
    @InjectRepository(ConsentVersionEntity) private readonly versions: Repository<ConsentVersionEntity>,
    private readonly words: ConsentWordsRepository,
  ) {}

  /** A version of a consent of this user. */
  async find(userId: string, id: string): Promise<VersionWithWords | null> {
    const version = await this.versions.findOneBy({ userId, id });
    if (!version) return null;
    const { wordsDigest } = version;
    return { version, words: wordsDigest && (await this.words.find(wordsDigest)) };
  }

  /** The newest versions of all consents of the user. */
  listOf(userId: string, limit: number): Promise<ConsentVersionEntity[]> {
    return this.versions.find({
      where: { userId },
      order: { recordedAt: 'DESC', clientId: 'ASC', number: 'DESC' },
      take: limit,
    });
  }

  /** One page of the versions of a consent, the newest first. */
  list(userId: string, clientId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    const query = this.versions
      .createQueryBuilder('version')
      .where('version.userId = :userId AND version.clientId = :clientId', { userId, clientId });
    return readPage(page, 'version.number', 'desc', query);
  }

  /** One page of the newest versions of each consent that the user has ever given, by client id. */
  listNewest(userId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    const query = this.versions
      .createQueryBuilder('version')
      .where('version.userId = :userId', { userId })
      .andWhere(
        `NOT EXISTS (SELECT 1 FROM consent_versions later WHERE later.user_id = version.user_id
           AND later.client_id = version.client_id AND later.number > version.number)`,
      );
    return readPage(page, 'version.clientId', 'asc', query);
  }
}
