import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { PageQuery, pageRequestOf } from '../../../http/paging.js';
import { safeReturnTo } from '../../../http/return-to.js';
import { GrantsService } from '../../../tokens/grants.service.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import { CONSOLE_PATH, type ConsoleAnswer, type ConsoleVisit } from '../console-visit.js';
import { listQuery } from '../list-query.js';
import { clientGrantsPage, grantPath, userGrantsPage } from './grants.pages.js';

/** Live grants of a client or a user, and revoking them. */
@ConsolePages()
export class ConsoleGrantsController {
  constructor(
    private readonly grants: GrantsService,
    private readonly clients: ClientsService,
    private readonly users: UsersService,
  ) {}

  @ConsoleGet('clients/:client_id/grants')
  async ofClient(@Visit() visit: ConsoleVisit, @Param('client_id') clientId: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const page = await this.grants.listLive(
      { clientId },
      pageRequestOf(await listQuery(PageQuery, visit.url)),
    );
    return { html: clientGrantsPage({ ...this.list(visit), client, page }) };
  }

  @ConsoleGet('users/:id/grants')
  async ofUser(@Visit() visit: ConsoleVisit, @Param('id') userId: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(userId);
    const page = await this.grants.listLive({ userId }, pageRequestOf(await listQuery(PageQuery, visit.url)));
    return { html: userGrantsPage({ ...this.list(visit), user, page }) };
  }

  /** Revokes a grant with its tokens and keeps the consent; then redirects to the list. */
  @ConsolePost('grants/:id/revoke', 'asked on the page above')
  async revoke(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    await this.grants.revoke(id, 'grant_revoked', visit.actor);
    const returnTo = safeReturnTo(form.get('return_to'));
    return {
      goTo: returnTo?.startsWith(`${CONSOLE_PATH}/`) ? returnTo : CONSOLE_PATH,
      notice: 'grant_revoked',
    };
  }

  private list(visit: ConsoleVisit) {
    return {
      frame: visit.frame,
      returnTo: visit.url,
      tokenOf: (id: string) => visit.tokenFor(grantPath(id)),
    };
  }
}
