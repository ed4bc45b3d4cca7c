import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { ConsentsService } from '../../../consents/consents.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { PageQuery, pageRequestOf } from '../../../http/paging.js';
import { notFound, validationFailed } from '../../../http/problem.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { isId } from '../../../secrets/ids.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsentDto } from '../../admin-consents.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { clientPath } from './client-frame.js';
import { consentsPage, disconnectUserPage, newConsentPage, type ConsentFields } from './consents.pages.js';

const EMPTY: ConsentFields = { user: '', scopes: [], evidence: '' };

/** The users who share data with a client: listed, recorded, disconnected. */
@ConsolePages('clients/:client_id/consents')
export class ConsoleClientConsentsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly scopes: ScopesService,
    private readonly users: UsersService,
  ) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const page = await this.consents.listUsers(
      id,
      undefined,
      pageRequestOf(await listQuery(PageQuery, visit.url)),
    );
    return { html: consentsPage({ frame: visit.frame, client, page }) };
  }

  @Shows('new')
  askForNew(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.newForm(visit, id, EMPTY);
  }

  /** Records a consent that was given elsewhere; the user is notified. */
  @Does('new')
  async record(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const fields = {
      user: form.get('user')?.trim() ?? '',
      scopes: form.getAll('scopes'),
      evidence: form.get('evidence') ?? '',
    };
    const { errors } = await attempt(async () => {
      const userId = await this.userIdOf(fields.user);
      const members = { scopes: fields.scopes, evidence: fields.evidence || null };
      const { scopes, evidence } = await formValue(ConsentDto, members);
      await this.consents.record(id, userId, scopes, evidence ?? null, visit.actor);
    });
    if (errors) return this.newForm(visit, id, fields, errors);
    return { goTo: clientPath(id, 'consents'), notice: 'consent_recorded' };
  }

  @Shows(':user_id/disconnect')
  async askToDisconnect(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') id: string,
    @Param('user_id') userId: string,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const page = await this.consents.listUsers(id, userId, { size: 1 });
    const user = page.items[0];
    if (!user) throw notFound('This user has no live consent to this client.');
    const csrfToken = visit.tokenFor(clientPath(id, `consents/${userId}/disconnect`));
    return { html: disconnectUserPage({ frame: visit.frame, client, user, csrfToken }) };
  }

  /** Takes the consent back and ends what rests on it, at once. */
  @Does(':user_id/disconnect')
  async disconnect(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') id: string,
    @Param('user_id') userId: string,
  ): Promise<ConsoleAnswer> {
    await this.consents.revoke(id, userId, visit.actor);
    return { goTo: clientPath(id, 'consents'), notice: 'disconnected' };
  }

  private async newForm(
    visit: ConsoleVisit,
    id: string,
    fields: ConsentFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const scopes = (await this.scopes.describe(client.scopes)).filter(
      ({ audience }) => audience === 'partner',
    );
    const csrfToken = visit.tokenFor(clientPath(id, 'consents/new'));
    const html = newConsentPage({ frame: visit.frame, client, scopes, fields, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }

  private async userIdOf(text: string): Promise<string> {
    const user = text.includes('@')
      ? await this.users.findByEmail(text)
      : isId('user', text)
        ? await this.users.find(text)
        : null;
    if (!user) throw validationFailed({ user: ['must be the e-mail address or id of a user'] });
    return user.id;
  }
}
