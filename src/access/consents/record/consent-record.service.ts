import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { ConsentVersionEntity, VersionWithWords } from './consent-version.entity.js';
import { ConsentVersionsRepository } from './consent-versions.repository.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The record of consents for the people who gave them (docs/consent-receipts.md). */
@Injectable()
export class ConsentRecordService {
  constructor(private readonly versions: ConsentVersionsRepository) {}

  /** A version of a consent of this user. */
  async find(userId: string, id: string): Promise<VersionWithWords | null> {
    return UUID.test(id) ? this.versions.find(userId, id) : null;
  }

  /** The versions of the user's consent to a client, the newest first. */
  list(userId: string, clientId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    return this.versions.list(userId, clientId, page);
  }

  /** The newest version of each consent that the user has ever given, by client id. */
  listNewest(userId: string, page: PageRequest): Promise<Page<ConsentVersionEntity>> {
    return this.versions.listNewest(userId, page);
  }
}
