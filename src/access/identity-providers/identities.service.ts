import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { OnDomainEvent, Answers } from '#platform/database/domain/domain-map.js';
import type { LinkedPerson } from '#access/domain/domain-events.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { notFound } from '#platform/http/problems/problem.js';
import { LinkedAccountsService } from '#access/users/accounts/linked-accounts.service.js';
import { ActorsService } from '#access/users/sessions/actors.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { IdentitiesRepository } from './identities.repository.js';
import type { Identity } from './identity.entity.js';
import { ProviderClients } from './protocol/provider-clients.service.js';
import { say } from '#platform/language/text.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';

/** The links of accounts to identity providers. */
@Injectable()
export class IdentitiesService {
  constructor(
    private readonly identities: IdentitiesRepository,
    private readonly providerClients: ProviderClients,
    private readonly accounts: LinkedAccountsService,
    private readonly sessions: SessionsService,
    private readonly actors: ActorsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  @OnDomainEvent('user.sign_in_ways_ended')
  removeAll(userId: string, except?: LinkedPerson): Promise<number> {
    return this.identities.deleteByUser(userId, except);
  }

  /** The links of a user, oldest first. */
  async list(userId: string): Promise<Identity[]> {
    const found = await this.identities.list(userId);
    return found.map((identity) => ({ ...identity, label: this.labelOf(identity.provider) }));
  }

  /** One of them; throws a 404 problem. */
  async get(userId: string, provider: string): Promise<Identity> {
    const identities = await this.list(userId);
    return identities.find((identity) => identity.provider === provider) ?? missing();
  }

  /**
   * Removes a link and ends the sessions that came from it; throws a 404 problem if it does not exist. `check` throws to refuse
   * it.
   */
  async remove(userId: string, provider: string, actor: Actor, check?: () => Promise<void>): Promise<void> {
    await this.transactions.run(async () => {
      // Locks the account before its sessions, in the same order as a login.
      if (!(await this.accounts.lock({ id: userId }))) missing();
      await this.actors.requireLive(actor);
      const { issuer, subject } = (await this.identities.delete(userId, provider)) ?? missing();
      const providers = [provider, ...this.providerClients.ofIssuer(issuer).map(({ id }) => id)];
      await this.sessions.endByProvider(providers, { subject }, actor);
      await this.audit.record(actor, {
        action: 'user.identity_removed',
        subjectId: userId,
        before: { provider },
      });
      await check?.();
    });
  }

  private labelOf(provider: string): string {
    return this.providerClients.find(provider)?.label ?? provider;
  }

  @Answers('user.personal_data')
  identitiesOf() {
    return section({
      name: 'identities',
      place: 45,
      title: say('Other services you log in with'),
      about: say('Who you are at the services through which you log in.'),
      read: async (userId: string, limit: number) => {
        const found = await this.list(userId);
        return found
          .slice(0, limit)
          .map((each) => recordOf(each, 'provider', 'label', 'issuer', 'subject', 'linkedAt', 'lastUsedAt'));
      },
      columns: {
        [say('Service')]: ({ label }) => label,
        [say('Your name there')]: ({ subject }) => subject,
        [say('Linked')]: ({ linked_at: at }) => at,
        [say('Last used')]: ({ last_used_at: at }) => at,
      },
    });
  }
}

function missing(): never {
  throw notFound('This user has no link to such an identity provider.');
}
