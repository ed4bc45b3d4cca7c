import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientsService, type Alongside } from '#access/clients/clients.service.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { MembersService } from '#events/partners/members/members.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { ShownSecret } from '#platform/web/layout/new-client-secret.js';
import {
  credentialsPage,
  CREDENTIALS_PATH,
  NEW_SECRET_PATH,
  newSecretPage,
  OVERLAPS,
} from './credentials.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

/** The client's id and its secrets (contract §20). */
@PortalPages('credentials')
export class PortalCredentialsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly uses: SecretUsesService,
    private readonly members: MembersService,
  ) {}

  @PortalGet('', 'viewer')
  show(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.page(context);
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
      return this.page(context, { errors: { keep: 'Choose one of these.' }, status: 400 });
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
    return unlessConflict(work, (form) => this.page(context, { errors: { form }, status: 409 }));
  }

  /** Notifies the admins in the transaction of the change. */
  private telling({ visitor }: PortalContext, what: 'rotated' | 'ended'): Alongside {
    return (client) =>
      this.members.tellAdmins(visitor.ownerId, MESSAGES.credentialsChanged(client.name, what));
  }

  private async page(
    context: PortalContext,
    { errors, status }: { errors?: FieldErrors; status?: number } = {},
  ): Promise<PortalAnswer> {
    const { clientId, form } = context;
    await this.uses.flush();
    const [client, secrets, newest, state] = await Promise.all([
      this.clients.get(clientId),
      this.secrets.list(clientId),
      this.secrets.newest(clientId),
      context.adminState(),
    ]);
    return {
      page: credentialsPage({ client, secrets, newest, state, keep: form.get('keep'), errors }),
      status,
    };
  }
}
