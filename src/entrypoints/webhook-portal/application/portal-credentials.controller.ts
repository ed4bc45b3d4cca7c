import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import type { Alongside } from '#access/clients/clients.service.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { MembersService } from '#events/partners/members/members.service.js';
import type { ShownSecret } from '#platform/web/layout/new-client-secret.js';
import { CREDENTIALS_PATH, NEW_SECRET_PATH, newSecretPage, OVERLAPS } from './credentials.page.js';
import { PortalCredentials } from './portal-credentials.service.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

/** The client's id and its secrets (contract §20). */
@PortalPages('credentials')
export class PortalCredentialsController {
  constructor(
    private readonly secrets: ClientSecretsService,
    private readonly credentials: PortalCredentials,
    private readonly members: MembersService,
  ) {}

  @PortalGet('', 'viewer')
  show(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.credentials.page(context);
  }

  /** Replaces the secret that the form showed; a second submit has no effect. */
  @PortalPost('rotate', 'nothing')
  async rotate(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    const keep = form.get('keep') ?? '';
    const newest = form.get('newest');
    if (newest === undefined)
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    if (!OVERLAPS.some(({ value }) => value === keep)) {
      return this.credentials.page(context, { errors: { keep: 'Choose one of these.' }, status: 400 });
    }
    const tell = this.telling(context, 'rotated');
    return this.attempt(context, async () => {
      const rotated = await this.secrets.rotateOnce(clientId, newest, Number(keep), actor, tell);
      if (!rotated) return { goTo: NEW_SECRET_PATH };
      const previousSecretExpiresAt = rotated.previousSecretExpiresAt?.toISOString() ?? null;
      const showOnce: ShownSecret = { secret: rotated.secret, previousSecretExpiresAt };
      return { goTo: NEW_SECRET_PATH, showOnce };
    });
  }

  /** The secret that was just created, shown once to the person who created it. */
  @PortalGet('secret', 'viewer')
  shown(@Context() context: PortalContext): PortalAnswer {
    return { page: newSecretPage(context.clientId, context.takeShown() as ShownSecret | undefined) };
  }

  @PortalPost('end', 'nothing')
  end(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    return this.attempt(context, async () => {
      const tell = this.telling(context, 'ended');
      await this.secrets.end(clientId, form.get('secret') ?? '', actor, tell);
      return { goTo: CREDENTIALS_PATH, notice: 'secret_ended' };
    });
  }

  private attempt(context: PortalContext, work: () => Promise<PortalAnswer>): Promise<PortalAnswer> {
    return unlessConflict(work, (form) => this.credentials.page(context, { errors: { form }, status: 409 }));
  }

  /** Notifies the admins in the transaction of the change. */
  private telling({ visitor }: PortalContext, what: 'rotated' | 'ended'): Alongside {
    return (client) =>
      this.members.tellAdmins(visitor.ownerId, MESSAGES.credentialsChanged(client.name, what));
  }
}
