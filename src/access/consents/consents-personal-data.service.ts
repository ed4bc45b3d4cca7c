import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { Language } from '#platform/language/languages.js';
import { say } from '#platform/language/text.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { scopeWordsIn } from '#access/scopes/scope.entity.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { OwnWords } from '#access/users/accounts/own-words.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { EVENT_WORDS, howOf } from './record/consent-version.entity.js';
import { ConsentVersionsRepository } from './record/consent-versions.repository.js';
import { ConsentsRepository } from './consents.repository.js';

/** What a person agreed to. */
@Injectable()
export class ConsentsPersonalData {
  constructor(
    private readonly consents: ConsentsRepository,
    private readonly clients: ClientsService,
    private readonly scopes: ScopesService,
    private readonly versions: ConsentVersionsRepository,
  ) {}

  @Answers('user.personal_data')
  consentsOf() {
    return section({
      name: 'consents',
      place: 20,
      title: say('Applications'),
      about: say('The applications that you agreed to share data with, also those that you disconnected.'),
      read: (userId: string, limit: number, language: Language) => this.read(userId, limit, language),
      columns: {
        [say('Application')]: ({ application }) => application,
        [say('It may')]: ({ allowed }) => allowed,
        [say('Agreed')]: ({ granted_at: at }) => at,
        [say('Ended')]: ({ revoked_at: at }) => at,
        [say('Ends')]: ({ expires_at: at }) => at,
        [say('Proof')]: ({ evidence }) => evidence,
      },
    });
  }

  @Answers('user.personal_data')
  receiptsOf() {
    return section({
      name: 'receipts',
      place: 21,
      title: say('Receipts'),
      about: say(
        'Whenever you agreed to share data, changed that, or stopped. The signed receipts are on your account page.',
      ),
      read: (userId: string, limit: number) => this.receipts(userId, limit),
      columns: {
        [say('Application')]: ({ application }) => application,
        [say('What')]: ({ event }) => new OwnWords(EVENT_WORDS[event]),
        [say('When')]: ({ recorded_at: at }) => at,
        [say('How')]: ({ method, reason }) => new OwnWords(howOf(method, reason)),
      },
    });
  }

  private async receipts(userId: string, limit: number) {
    return (await this.versions.listOf(userId, limit)).map((version) => ({
      receipt: version.id,
      application: version.clientName,
      ...recordOf(version, 'replaces', 'clientId', 'event', 'scopes', 'grantedAt', 'validUntil', 'endedAt'),
      ...recordOf(version, 'recordedAt', 'method', 'reason', 'language', 'evidence'),
    }));
  }

  private async read(userId: string, limit: number, language: Language) {
    const found = await this.consents.listOf(userId, limit);
    const names = await this.clients.namesById(found.map(({ clientId }) => clientId));
    const scopes = await this.scopes.list();
    const words = new Map(scopes.map((scope) => [scope.name, scopeWordsIn(scope, language)]));
    return found.map((consent) => ({
      application: names.get(consent.clientId) ?? null,
      allowed: consent.scopes.map((name) => words.get(name) ?? name),
      ...recordOf(consent, 'clientId', 'scopes', 'grantedAt', 'expiresAt', 'revokedAt', 'evidence'),
    }));
  }
}
