import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import type { Cookies } from '../http/cookies.js';
import type { CsrfService } from '../http/csrf.service.js';
import type { PageAnswer } from '../http/page-routes/page-answer.js';
import { PageContext } from '../http/page-routes/page-context.js';
import { originOf } from '../http/request-origin.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import type { PortalLayoutProps } from './pages/portal-layout.js';
import type { PortalVisitor } from './portal-access.service.js';

const NOTICES = {
  endpoint_added:
    'Endpoint added. Next: put its secret into your application, and send a test to check that it works.',
  endpoint_saved: 'Endpoint updated.',
  endpoint_enabled: 'Endpoint enabled. Events are sent to it again.',
  endpoint_disabled: 'Endpoint disabled. No events are sent to it until you enable it again.',
  endpoint_deleted: 'Endpoint deleted.',
  secret_rotated:
    'Secret rotated. Reveal the new secret and put it into your application before the old one expires.',
  resent: 'Resend requested. The result appears below.',
} as const;

/** What a route of the portal returns. */
export type PortalAnswer = PageAnswer<keyof typeof NOTICES>;

/** A request inside the portal, after its guard. */
export class PortalContext extends PageContext {
  /** The endpoint that a posted form is about; the guard has read it. Only for routes whose form is about one. */
  endpoint!: EndpointEntity;

  constructor(
    readonly visitor: PortalVisitor,
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: CsrfService,
    cookies: Cookies,
  ) {
    super({ name: 'portal', notices: NOTICES, withScript: true }, request, reply, csrf, cookies);
  }

  protected get sessionDigest(): Buffer {
    return this.visitor.sessionDigest;
  }

  get clientId(): string {
    return this.visitor.clientId;
  }

  /** The actor for the audit log. */
  get actor(): Actor {
    return { type: 'client', id: this.clientId, ...originOf(this.request) };
  }

  /** The data of the layout; a notice left by a form is shown once. */
  get layoutProps(): PortalLayoutProps {
    const { clientId, clientName, ownerName, expiresAt } = this.visitor;
    return {
      owner: { clientId, clientName, ownerName, expiresAt },
      logoutToken: this.tokenFor('/portal/logout'),
      notice: this.takeNotice(),
    };
  }
}
