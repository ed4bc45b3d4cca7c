import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { GrantInList } from '#access/tokens/grants/grant.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { CONSOLE_PATH, type ConsoleAnswer, type ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { pageIn } from '../filtered-list.js';
import { clientGrantsPage, userGrantsPage, type GrantsProps } from './grants.pages.js';

/** Active grants of a client or a user, and revoking them. */
@ConsolePages()
export class ConsoleGrantsController {
  constructor(
    private readonly grants: GrantsService,
    private readonly clients: ClientsService,
    private readonly users: UsersService,
    private readonly protection: OperatorProtectionService,
  ) {}

  @ConsoleGet('clients/:client_id/grants', 'not asked', 'viewer')
  async ofClient(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const page = await this.grants.listLive({ clientId }, await pageIn(context.url));
    return { page: clientGrantsPage({ client, ...(await this.listed(page)), returnTo: context.url }) };
  }

  @ConsoleGet('users/:id/grants', 'not asked', 'viewer')
  async ofUser(@Context() context: ConsoleContext, @Param('id') userId: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(userId);
    const page = await this.grants.listLive({ userId }, await pageIn(context.url));
    return { page: userGrantsPage({ user, ...(await this.listed(page)), returnTo: context.url }) };
  }

  /** Revokes a grant with its tokens and keeps the consent; then redirects to the list. */
  @ConsolePost('grants/:id/revoke', 'asked on the page above', 'support')
  async revoke(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.grants.revoke(id, 'grant_revoked', context.actor);
    const returnTo = safeReturnTo(context.form.get('return_to'));
    return {
      goTo: returnTo?.startsWith(`${CONSOLE_PATH}/`) ? returnTo : CONSOLE_PATH,
      notice: 'grant_revoked',
    };
  }

  private async listed(page: Page<GrantInList>): Promise<Pick<GrantsProps, 'page' | 'operators'>> {
    const users = page.items.map(({ userId, userRole }) => ({ id: userId, role: userRole }));
    return { page, operators: await this.protection.operatorsAmong(users) };
  }
}
