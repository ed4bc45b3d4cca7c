import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { PageQuery, pageRequestOf } from '../../../http/paging.js';
import { safeReturnTo } from '../../../http/return-to.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { GrantsService } from '../../../tokens/grants.service.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { CONSOLE_PATH, type ConsoleAnswer, type ConsoleContext } from '../console-context.js';
import { listQuery } from '../list-query.js';
import { clientGrantsPage, grantPath, userGrantsPage } from './grants.pages.js';

/** Active grants of a client or a user, and revoking them. */
@ConsolePages()
export class ConsoleGrantsController {
  constructor(
    private readonly grants: GrantsService,
    private readonly clients: ClientsService,
    private readonly users: UsersService,
  ) {}

  @ConsoleGet('clients/:client_id/grants')
  async ofClient(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const page = await this.grants.listLive(
      { clientId },
      pageRequestOf(await listQuery(PageQuery, context.url)),
    );
    return { html: clientGrantsPage({ ...this.list(context), client, page }) };
  }

  @ConsoleGet('users/:id/grants')
  async ofUser(@Context() context: ConsoleContext, @Param('id') userId: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(userId);
    const page = await this.grants.listLive(
      { userId },
      pageRequestOf(await listQuery(PageQuery, context.url)),
    );
    return { html: userGrantsPage({ ...this.list(context), user, page }) };
  }

  /** Revokes a grant with its tokens and keeps the consent; then redirects to the list. */
  @ConsolePost('grants/:id/revoke', 'asked on the page above')
  async revoke(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    await this.grants.revoke(id, 'grant_revoked', context.actor);
    const returnTo = safeReturnTo(form.get('return_to'));
    return {
      goTo: returnTo?.startsWith(`${CONSOLE_PATH}/`) ? returnTo : CONSOLE_PATH,
      notice: 'grant_revoked',
    };
  }

  private list(context: ConsoleContext) {
    return {
      layoutProps: context.layoutProps,
      returnTo: context.url,
      tokenOf: (id: string) => context.tokenFor(grantPath(id)),
    };
  }
}
