import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventClient } from '#records/activity/activity.js';
import type { Actor } from '#records/audit/audit.service.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { Notices, type AddedNotice } from '#platform/http/page-routes/notices.js';
import type { PageAnswer } from '#platform/http/page-routes/page-answer.js';
import { PageContext } from '#platform/http/page-routes/page-context.js';
import { originOf } from '#platform/http/server/request-origin.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { ShownOnce } from '#access/users/sessions/shown-once.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { bindingOfUser } from '#access/users/sessions/user-page-context.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { portalLayout, PORTAL_SIGN_IN_AREA, PORTAL_SIGN_IN_PATH, type PortalPage } from './portal-layout.js';
import { PORTAL_ROUTES } from './portal-routes.js';
import { MemberSessions } from '../access/member-sessions.service.js';
import type { Portals } from '../access/member-sessions.repository.js';
import type { PortalVisitor } from '../access/portal-visitor.js';

/** What the portal says after a form. */
export const PORTAL_NOTICES = new Notices({
  endpoint_added:
    'Endpoint added. Next: put its secret into your program, and send a test to check that it works.',
  endpoint_saved: 'Endpoint updated.',
  endpoint_enabled: 'Endpoint enabled. Events are sent to it again.',
  endpoint_disabled: 'Endpoint disabled. No events are sent to it until you enable it again.',
  endpoint_deleted: 'Endpoint deleted.',
  secret_rotated:
    'Secret rotated. Reveal the new secret and put it into your program before the old one expires.',
  key_rotated: 'Key rotated. The old one signs beside the new one for 24 hours.',
  driver_created: 'Driver created. Next: grant consent, and start a session.',
  driver_deleted: 'Driver deleted.',
  session_started: 'Session started. Its events are published at their time.',
  past_days_sent: 'The sessions of past days are being sent.',
  burst_sent: 'The events are being sent.',
  consent_granted: 'Consent granted.',
  consent_withdrawn: 'Consent withdrawn.',
  fault_set: 'Done. It ends once applied, or within an hour.',
  resent: 'Resend requested. The result appears below.',
  secret_ended: 'The secret has ended. Requests that use it fail.',
  key_added: 'The key was added. The client can sign with it now.',
  key_ended: 'The key has ended. Requests that are signed with it fail.',
  member_invited: 'We sent an invitation to the address. Its link works once, within 7 days.',
  member_changed: 'Role changed.',
  member_removed: 'Member removed.',
  invitation_withdrawn: 'Invitation withdrawn. Its link no longer works.',
});

type PortalNotice = typeof PORTAL_NOTICES extends Notices<infer Name> ? Name | AddedNotice : never;

/** What a route of the portal returns. */
export type PortalAnswer = PageAnswer<PortalPage, PortalNotice>;

/** What every page of the portal may need. */
@Injectable()
export class PortalServices {
  constructor(
    readonly memberSessions: MemberSessions,
    readonly shownOnce: ShownOnce,
    readonly factors: SecondFactorService,
    readonly csrf: CsrfService,
    readonly cookies: Cookies,
  ) {}
}

/** A request inside the portal, after its guard. */
export class PortalContext extends PageContext<PortalPage> {
  /** The endpoint that a posted form is about, as the guard has read it. Only for routes with the subject `an endpoint`. */
  endpoint!: EndpointEntity;
  private portals: Portals = { failing: 0, others: [] };

  constructor(
    readonly visitor: PortalVisitor,
    private readonly services: PortalServices,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const area = { name: 'portal', notices: PORTAL_NOTICES.texts, home: PORTAL_SIGN_IN_PATH };
    super(area, request, reply, services.csrf, services.cookies);
  }

  get clientId(): string {
    return this.visitor.clientId;
  }

  get client(): EventClient {
    return { id: this.visitor.clientId, environment: this.visitor.environment };
  }

  /** The actor for the audit log: the member, or with a one-time link the client. */
  get actor(): Actor {
    const { user } = this.visitor;
    const who = user
      ? ({ type: 'user', id: user.id, sessionDigest: user.sessionDigest } as const)
      : ({ type: 'client', id: this.clientId } as const);
    return { ...who, ...originOf(this.request) };
  }

  /** The member on a page for admins, whom the guard has admitted. */
  get member(): SignedInUser {
    return this.visitor.user!;
  }

  /** Whether the visitor is an admin, and if so whether they have authenticated recently enough to change something. */
  async adminState(): Promise<'no admin' | 'to confirm' | 'confirmed'> {
    const { role, user } = this.visitor;
    if (role !== 'admin' || !user) return 'no admin';
    return (await this.services.factors.mayChange(user)) ? 'confirmed' : 'to confirm';
  }

  override keepShown(path: string, value: object): void {
    this.services.shownOnce.keep(this.reply, this.member, path, value);
  }

  /** The `showOnce` value of the previous form; undefined if it was already shown. */
  takeShown(): unknown {
    const { user } = this.visitor;
    return user && this.services.shownOnce.take(this.request, this.reply, user, this.path);
  }

  override async prepare(): Promise<void> {
    this.portals = await this.services.memberSessions.portalsOf(this.visitor);
  }

  layOut(page: PortalPage): LayoutProps {
    const { role } = this.visitor;
    return portalLayout(page, this.visitor, this.portals, this.takeNotice(), (method, path) =>
      path.startsWith('/portal/') && path !== '/portal/logout' && path !== PORTAL_SIGN_IN_PATH
        ? PORTAL_ROUTES.mayUse(role, method, path)
        : true,
    );
  }

  protected bindingIn(path: string): string {
    return portalBinding(path, this.visitor);
  }
}

/** What a form of the portal is bound to: its path identifies the action and its object. Forms that open another portal are bound to the login. */
export function portalBinding(path: string, { user, sessionDigest }: PortalVisitor): string {
  if (user && path.startsWith(`${PORTAL_SIGN_IN_PATH}/`))
    return bindingOfUser(PORTAL_SIGN_IN_AREA, path, user);
  return `portal ${path} ${sessionDigest.toString('base64url')}`;
}
