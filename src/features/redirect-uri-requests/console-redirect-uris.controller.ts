import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import {
  type RedirectUriRequestEntity,
  RedirectUriRequestsQuery,
  RejectionDto,
} from './redirect-uri-request.entity.js';
import { RedirectUriRequestsService } from './redirect-uri-requests.service.js';
import type { ConsoleAnswer, ConsoleContext } from '#entrypoints/admin/console/console-context.js';
import { CONSOLE_NOTICES, type ConsoleNotice } from '#entrypoints/admin/console/console-notices.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '#entrypoints/admin/console/console-pages.decorator.js';
import { filteredList } from '#entrypoints/admin/console/filtered-list.js';
import { Pickers } from '#entrypoints/admin/console/pickers.service.js';
import { attempt, formValue } from '#entrypoints/admin/console/form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import {
  redirectUriPath,
  redirectUriRequestPage,
  redirectUriRequestsPage,
} from './console-redirect-uris.pages.js';

const NOTICES = CONSOLE_NOTICES.add({
  redirect_uri_approved: 'Approved: the client is changed.',
  redirect_uri_rejected: 'Rejected. Nothing was changed.',
});

/** Redirect URIs that partners ask for, with the forms to approve and to reject them (contract §20). */
@ConsolePages('redirect-uris')
export class ConsoleRedirectUrisController {
  constructor(
    private readonly requests: RedirectUriRequestsService,
    private readonly clients: ClientsService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(RedirectUriRequestsQuery, context.url, (query, page) =>
      this.requests.list({ state: query.state, clientId: query.client_id }, page),
    );
    const [names, clients] = await Promise.all([
      this.pickers.namesOf((list.page?.items ?? []).map(({ clientId }) => clientId)),
      this.pickers.clients(),
    ]);
    return { page: redirectUriRequestsPage(list, names, clients), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet(':id', 'not asked', 'viewer')
  show(@Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(id);
  }

  /** Changes the client; what became impossible in the meantime stays pending, with the reason. */
  @ConsolePost(':id/approve', 'asked on the page above')
  approve(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.decide(id, NOTICES.redirect_uri_approved, () => this.requests.approve(id, context.actor));
  }

  @ConsolePost(':id/reject', 'asked on the page above')
  reject(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const typed = context.form.get('reason')?.trim() ?? '';
    return this.decide(
      id,
      NOTICES.redirect_uri_rejected,
      async () => {
        const { reason } = await formValue(RejectionDto, typed === '' ? {} : { reason: typed });
        return this.requests.reject(id, reason ?? null, context.actor);
      },
      typed,
    );
  }

  private async decide(
    id: string,
    notice: ConsoleNotice,
    work: () => Promise<RedirectUriRequestEntity>,
    reason?: string,
  ): Promise<ConsoleAnswer> {
    const { errors } = await attempt(work);
    return errors ? this.page(id, errors, reason) : { goTo: redirectUriPath(id), notice };
  }

  private async page(id: string, errors?: FieldErrors, reason?: string): Promise<ConsoleAnswer> {
    const request = await this.requests.get(id);
    const client = await this.clients.get(request.clientId);
    const status = !errors ? 200 : errors['form'] ? 409 : 400;
    return { page: redirectUriRequestPage({ request, client, errors, reason }), status };
  }
}
