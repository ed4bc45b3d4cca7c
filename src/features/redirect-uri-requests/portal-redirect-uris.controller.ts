import type { RedirectUriChange } from '#access/clients/client-rules.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { Problem } from '#platform/http/problems/problem.js';
import { RedirectUriRequestsService } from './redirect-uri-requests.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { redirectUrisPage, REDIRECT_URIS_PATH } from './portal-redirect-uris.page.js';
import {
  PORTAL_NOTICES,
  type PortalAnswer,
  type PortalContext,
} from '#entrypoints/webhook-portal/frame/portal-context.js';
import {
  PortalGet,
  PortalPages,
  PortalPost,
} from '#entrypoints/webhook-portal/frame/portal-pages.decorator.js';
import { apiWords } from '#platform/http/problems/violation.js';

const LISTED = 25;

const NOTICES = PORTAL_NOTICES.add({
  redirect_uri_asked: 'Your request waits for an operator. Nothing is changed until it is approved.',
  redirect_uri_changed: 'Done: this applies from now on.',
});

/** The client's redirect URIs, and requests to change them (contract §20). */
@PortalPages('redirect-uris')
export class PortalRedirectUrisController {
  constructor(
    private readonly clients: ClientsService,
    private readonly requests: RedirectUriRequestsService,
  ) {}

  @PortalGet('', 'viewer')
  show(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.page(context);
  }

  @PortalPost('', 'nothing')
  askToAdd(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.ask(context, 'add');
  }

  @PortalPost('remove', 'nothing')
  askToRemove(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.ask(context, 'remove');
  }

  private async ask(context: PortalContext, action: RedirectUriChange['action']): Promise<PortalAnswer> {
    const { clientId, form, member, actor } = context;
    const uri = form.get('uri')?.trim() ?? '';
    try {
      const { state } = await this.requests.ask(clientId, { action, uri }, member.id, actor);
      const notice = state === 'approved' ? NOTICES.redirect_uri_changed : NOTICES.redirect_uri_asked;
      return { goTo: REDIRECT_URIS_PATH, notice };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const wrong = error.extras.violations?.['uri'];
      if (wrong)
        return this.page(context, {
          uri,
          errors: { uri: `The URI ${wrong.map(apiWords).join(', and ')}` },
          status: 400,
        });
      if (error.status === 409)
        return this.page(context, { uri, errors: { form: error.detail }, status: 409 });
      throw error;
    }
  }

  private async page(
    context: PortalContext,
    { uri, errors, status }: { uri?: string; errors?: FieldErrors; status?: number } = {},
  ): Promise<PortalAnswer> {
    const { clientId } = context;
    const [client, { items }, state] = await Promise.all([
      this.clients.get(clientId),
      this.requests.list({ clientId }, { size: LISTED }),
      context.adminState(),
    ]);
    return { page: redirectUrisPage({ client, requests: items, state, uri, errors }), status };
  }
}
