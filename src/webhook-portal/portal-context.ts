import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import type { Cookies } from '../http/server/cookies.js';
import type { CsrfService } from '../http/forms/csrf.service.js';
import type { PageAnswer } from '../http/page-routes/page-answer.js';
import { PageContext } from '../http/page-routes/page-context.js';
import { originOf } from '../http/server/request-origin.js';
import type { LayoutProps } from '../web/layout/layout.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { portalLayout, type PortalPage } from './pages/portal-layout.js';
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
  contact_added: 'Contact added. We sent a link to the address, with which its owner confirms it.',
  contact_link_sent: 'We sent the link once more.',
  contact_removed: 'Contact removed.',
  driver_created: 'Driver created. Next: grant consent, and start a session.',
  driver_deleted: 'Driver deleted.',
  session_started: 'Session started. Its events are published at their time.',
  past_days_sent: 'The sessions of past days are being sent.',
  burst_sent: 'The events are being sent.',
  consent_granted: 'Consent granted.',
  consent_withdrawn: 'Consent withdrawn.',
  fault_set: 'Done. It is used up by what fails, or ends within an hour.',
  resent: 'Resend requested. The result appears below.',
} as const;

/** What a route of the portal returns. */
export type PortalAnswer = PageAnswer<PortalPage, keyof typeof NOTICES>;

/** A request inside the portal, after its guard. */
export class PortalContext extends PageContext<PortalPage> {
  /** The endpoint that a posted form is about; the guard has read it. Only for routes whose form is about one. */
  endpoint!: EndpointEntity;

  constructor(
    readonly visitor: PortalVisitor,
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: CsrfService,
    cookies: Cookies,
  ) {
    super({ name: 'portal', notices: NOTICES }, request, reply, csrf, cookies);
  }

  get clientId(): string {
    return this.visitor.clientId;
  }

  /** The actor for the audit log. */
  get actor(): Actor {
    return { type: 'client', id: this.clientId, ...originOf(this.request) };
  }

  layOut(page: PortalPage): LayoutProps {
    return portalLayout(page, this.visitor, this.takeNotice());
  }

  /** The path identifies the action and its object. */
  protected bindingIn(path: string): string {
    return `${this.area.name} ${path} ${this.visitor.sessionDigest.toString('base64url')}`;
  }
}
