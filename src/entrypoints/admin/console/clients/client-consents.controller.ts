import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ConsentDto } from '../../api/consents/admin-consents.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { judged, refuseTogether } from '../form-attempt.js';
import { pageIn } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { namedUser } from '../pages/lists.js';
import { clientPath } from './client-layout.js';
import { consentsPage, disconnectUserPage, newConsentPage, type ConsentFields } from './consents.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { violation } from '#platform/http/problems/violation.js';

const EMPTY: ConsentFields = { user: '', scopes: [], evidence: '' };

/** The users who share data with a client: list, record, disconnect. */
@ConsolePages('clients/:client_id/consents')
export class ConsoleClientConsentsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly approvals: ConsentApprovals,
    private readonly scopes: ScopesService,
    private readonly users: UsersService,
    private readonly protection: OperatorProtectionService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const page = await this.consents.listUsers(id, undefined, await pageIn(context.url));
    const operators = await this.protection.operatorsAmong(page.items);
    return { page: consentsPage({ client, page, operators }) };
  }

  @ConsoleGet('new', 'asked', 'support')
  askForNew(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.newForm(id, EMPTY);
  }

  /** Records a consent that was given elsewhere; the user is notified. */
  @ConsolePost('new', 'asked in the form', 'support')
  async record(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const { form } = context;
    const fields = {
      user: form.get('user')?.trim() ?? '',
      scopes: form.getAll('scopes'),
      evidence: form.get('evidence') ?? '',
    };
    const { errors } = await context.attemptWithPassword(async () => {
      const user = await namedUser(this.users, fields.user);
      const members = { scopes: fields.scopes, evidence: fields.evidence || null };
      const { value, violations } = await judged(ConsentDto, members);
      refuseTogether(user ? {} : { user: [violation('unknown_user')] }, violations);
      await this.approvals.record(id, user!.id, value!.scopes, value!.evidence ?? null, context.actor);
    });
    if (errors) return this.newForm(id, fields, errors);
    return { goTo: clientPath(id, 'consents'), notice: 'consent_recorded' };
  }

  @ConsoleGet(':user_id/disconnect', 'asked', 'support')
  async askToDisconnect(
    @Param('client_id') id: string,
    @Param('user_id') userId: string,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const page = await this.consents.listUsers(id, userId, { size: 1 });
    const user = page.items[0];
    if (!user) throw notFound('This user has no active consent to this client.');
    return { page: disconnectUserPage({ client, user }) };
  }

  /** Revokes the consent and everything that depends on it, immediately. */
  @ConsolePost(':user_id/disconnect', 'asked', 'support')
  async disconnect(
    @Context() context: ConsoleContext,
    @Param('client_id') id: string,
    @Param('user_id') userId: string,
  ): Promise<ConsoleAnswer> {
    await this.consents.revoke(id, userId, context.actor);
    return { goTo: clientPath(id, 'consents'), notice: 'disconnected' };
  }

  private async newForm(id: string, fields: ConsentFields, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const scopes = (await this.scopes.describe(client.scopes)).filter(
      ({ audience }) => audience === 'partner',
    );
    const users = await this.pickers.users();
    return { page: newConsentPage({ client, scopes, users, fields, errors }), status: errors ? 400 : 200 };
  }
}
