import { Param, Query } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { DisclosureHistoryService } from '#events/disclosures/disclosure-history.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { notFound } from '#platform/http/problems/problem.js';
import { stillAgreedTo } from '#access/consents/consent.entity.js';
import { choiceIn, type Undecided } from '#access/consents/record/choice.js';
import { keptWords } from '#access/consents/record/consent-words.js';
import { accessWords, choicePageText } from '#access/consents/record/consent-page-text.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { choosePage } from './pages/choose.page.js';
import { say } from '#platform/language/text.js';
import { isId } from '#platform/secrets/ids.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { ConnectedClientsService } from '#access/tokens/grants/connected-clients.service.js';
import { type AccountAnswer, type AccountContext, AccountListQuery } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { ApplicationLinks } from './pages/application-links.js';
import { applicationsPage } from './pages/applications.page.js';
import { disconnectPage } from './pages/disconnect.page.js';
import { historyPage } from './pages/history.page.js';

const UNDECIDED: Record<Undecided, string> = {
  'words changed': say('What this page says has changed since you opened it. Please read it again.'),
  'nothing chosen': say('Choose what the application may read, or disconnect it.'),
};

/** The applications that a user shares data with, and disconnecting them. */
@AccountPages()
export class AccountApplicationsController {
  constructor(
    private readonly connected: ConnectedClientsService,
    private readonly consents: ConsentsService,
    private readonly approvals: ConsentApprovals,
    private readonly clients: ClientsService,
    private readonly members: MembersService,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly deletions: AccountDeletionsService,
    private readonly history: DisclosureHistoryService,
    private readonly links: ApplicationLinks,
  ) {}

  @AccountGet()
  async list(@Context() context: AccountContext, @Query() query: AccountListQuery): Promise<AccountAnswer> {
    const { user, reader } = context;
    const { id } = user;
    const [clients, former, ownsClients, isMember, deletion] = await Promise.all([
      this.connected.list(id, pageRequestOf(query), reader.language),
      this.history.formerClients(id),
      this.clients.hasAny(id),
      this.members.isMemberOfAny(id),
      this.deletions.find(id),
    ]);
    const lastReads = await this.history.lastReads(
      id,
      clients.items.map((client) => client.id),
    );
    const withPortal = ownsClients || isMember;
    const deletionDueAt = deletion?.dueAt;
    const { links } = this;
    return { page: applicationsPage({ clients, lastReads, former, links, withPortal, deletionDueAt }) };
  }

  /** The confirmation page for disconnecting; 404 for an application that is not connected. */
  @AccountGet('applications/:client_id')
  async confirm(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
  ): Promise<AccountAnswer> {
    const { user, reader } = context;
    return { page: disconnectPage(await this.connected.get(user.id, clientId, reader.language)) };
  }

  /** What the user lets the application read, to choose from, and until when; 404 for an application that is not connected. */
  @AccountGet('applications/:client_id/access')
  showChoice(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
    @Query('renew') renew: unknown,
    @Query('without') without: unknown,
  ): Promise<AccountAnswer> {
    return this.choice(context, clientId, { isRenewal: renew === 'true', without });
  }

  /** The application may then read only what is chosen; the consent starts again now. */
  @AccountPost('applications/:client_id/access')
  async choose(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
  ): Promise<AccountAnswer> {
    const { form, user, actor, t } = context;
    const { client, words } = await this.choicesOf(context, clientId);
    const choice = choiceIn(form, words);
    if (typeof choice === 'string') return this.choice(context, clientId, { problem: t(UNDECIDED[choice]) });
    await this.approvals.choose(client, user.id, choice, actor);
    return { goTo: '/account', notice: 'access_changed' };
  }

  private async choice(
    context: AccountContext,
    clientId: string,
    { isRenewal = false, without, problem }: { isRenewal?: boolean; without?: unknown; problem?: string },
  ): Promise<AccountAnswer> {
    const { consent, words } = await this.choicesOf(context, clientId);
    const page = choosePage({
      clientId,
      words,
      shown: keptWords(words).digest.toString('hex'),
      given: stillAgreedTo(consent).filter((scope) => scope !== without),
      isAskedAnew: consent.wordsChanged.length > 0,
      expiresAt: consent.expiresAt,
      isRenewal: isRenewal && consent.expiresAt !== null,
      problem,
    });
    return { page, status: problem ? 422 : 200 };
  }

  /** What the user agreed to, and what else the application lets its users choose. */
  private async choicesOf({ user, reader: { language } }: AccountContext, clientId: string) {
    const consent = isId('clnt', clientId) ? await this.consents.findLive(clientId, user.id) : null;
    if (!consent) throw notFound(say('No such application is connected to your account.'));
    const client = await this.clients.get(clientId);
    const names = client.scopes.filter(
      (name) => consent.scopes.includes(name) || client.optionalScopes.includes(name),
    );
    const described = await this.scopes.describe(names);
    const words = choicePageText({
      language,
      application: legible(client.name),
      organisation: client.organisation === null ? null : legible(client.organisation),
      access: accessWords(client, described, language),
      purposes: await this.purposes.wordsOf(client.purposes, language),
      expiryDays: this.approvals.expiryDaysOf(client),
    });
    return { client, consent, words };
  }

  /** What an application read, by day, even if it is no longer connected; 404 if it never was. */
  @AccountGet('applications/:client_id/history')
  async showHistory(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
    @Query('month') month: unknown,
  ): Promise<AccountAnswer> {
    const { user, reader } = context;
    return { page: historyPage(await this.history.of(user.id, clientId, reader.language), month) };
  }

  /** Revokes the consent, which ends the client's tokens for this user immediately (contract §4). */
  @AccountPost('applications/:client_id')
  async disconnect(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
  ): Promise<AccountAnswer> {
    if (!isId('clnt', clientId)) throw notFound(say('No such application is connected to your account.'));
    await this.consents.withdraw(clientId, context.user.id, context.actor);
    return { goTo: '/account', notice: 'disconnected' };
  }
}
