import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import type { Language } from '#platform/language/languages.js';
import { isId } from '#platform/secrets/ids.js';
import { ConnectedClientsRepository } from './connected-clients.repository.js';
import type { ConnectedClient } from './grant.js';

/** The clients that a user shares data with, and when each last got a token for that user (contract §13). */
@Injectable()
export class ConnectedClientsService {
  constructor(private readonly repository: ConnectedClientsRepository) {}

  list(userId: string, page: PageRequest, language: Language = 'en'): Promise<Page<ConnectedClient>> {
    return this.repository.list(userId, undefined, page, language);
  }

  /** One of them; throws a 404 problem if the user has no active consent to it. */
  async get(userId: string, clientId: string, language: Language = 'en'): Promise<ConnectedClient> {
    const known = isId('clnt', clientId);
    const { items } = known
      ? await this.repository.list(userId, clientId, { size: 1 }, language)
      : { items: [] };
    const [client] = items;
    if (!client) throw notFound(say('No such application is connected to your account.'));
    return client;
  }
}
