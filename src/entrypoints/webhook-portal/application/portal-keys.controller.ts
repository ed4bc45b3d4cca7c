import { ClientKeysService } from '#access/clients/keys/client-keys.service.js';
import type { Alongside } from '#access/clients/clients.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { Problem } from '#platform/http/problems/problem.js';
import { FORM_KINDS } from '#platform/http/resources/form-field.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';
import { CREDENTIALS_PATH } from './credentials.page.js';
import { PortalCredentials } from './portal-credentials.service.js';

/** The public keys of a client that has keys instead of a secret (contract §20). */
@PortalPages('credentials/keys')
export class PortalKeysController {
  constructor(
    private readonly keys: ClientKeysService,
    private readonly members: MembersService,
    private readonly credentials: PortalCredentials,
  ) {}

  @PortalPost('add', 'nothing')
  add(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    return this.attempt(context, async () => {
      const jwk = FORM_KINDS.json.member(form.get('jwk') ?? '');
      await this.keys.add(clientId, jwk, actor, this.telling(context, 'added'));
      return { goTo: CREDENTIALS_PATH, notice: 'key_added' };
    });
  }

  @PortalPost('end', 'nothing')
  end(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    return this.attempt(context, async () => {
      await this.keys.end(clientId, form.get('key') ?? '', actor, this.telling(context, 'ended'));
      return { goTo: CREDENTIALS_PATH, notice: 'key_ended' };
    });
  }

  private async attempt(context: PortalContext, work: () => Promise<PortalAnswer>): Promise<PortalAnswer> {
    try {
      return await unlessConflict(work, (form) =>
        this.credentials.page(context, { errors: { form }, status: 409 }),
      );
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 400 || context.form.get('jwk') === undefined)
        throw error;
      const errors = {
        jwk: 'Enter one public key as a JWK, with a kid that no other key of the client has.',
      };
      return this.credentials.page(context, { errors, status: 400 });
    }
  }

  /** Notifies the admins in the transaction of the change. */
  private telling({ visitor }: PortalContext, what: 'added' | 'ended'): Alongside {
    return (client) => this.members.tellAdmins(visitor.ownerId, MESSAGES.keysChanged(client.name, what));
  }
}
