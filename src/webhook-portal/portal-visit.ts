import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { originOf } from '../http/request-origin.js';
import type { Cookies } from '../http/cookies.js';
import type { CsrfService } from '../http/csrf.service.js';
import type { Form } from '../http/form.js';
import { sendPage } from '../http/send-page.js';
import type { PortalFrame } from './pages/portal-layout.js';
import type { PortalVisitor } from './portal-access.service.js';

const COOKIE = 'portal_notice';
// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** Messages shown after a form was posted. The cookie holds only the key, so nobody can put other text on the page. */
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

export type PortalNotice = keyof typeof NOTICES;

/** A request inside the portal: its session, the layout, and how forms are bound and answered. */
export class PortalVisit {
  constructor(
    readonly visitor: PortalVisitor,
    private readonly request: FastifyRequest,
    private readonly reply: FastifyReply,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  get clientId(): string {
    return this.visitor.clientId;
  }

  /** The actor for the audit log. */
  get actor(): Actor {
    return { type: 'client', id: this.clientId, ...originOf(this.request) };
  }

  /** The data of the layout; a notice left by a form is shown once. */
  frame(): PortalFrame {
    const { clientId, clientName, ownerName, expiresAt } = this.visitor;
    return {
      owner: { clientId, clientName, ownerName, expiresAt },
      logoutToken: this.tokenFor('log out'),
      notice: this.takeNotice(),
    };
  }

  /** A CSRF token for a form that does `what` in this session. */
  tokenFor(what: string): string {
    return this.csrf.tokenFor(this.request, this.reply, this.binding(what));
  }

  /** Throws a 403 problem for a form of another session or for another action. */
  check(form: Form, what: string): void {
    this.csrf.check(this.request, form, this.binding(what));
  }

  /** Sends a page of the portal. */
  send(reply: FastifyReply, html: string, status = 200): void {
    sendPage(reply, html, { status, withScript: true });
  }

  /** Redirects after a form to a page that shows the notice. */
  goOn(reply: FastifyReply, path: string, notice?: PortalNotice): void {
    if (notice) this.cookies.set(reply, COOKIE, notice, COOKIE_SECONDS);
    void reply.header('cache-control', 'no-store').redirect(path, 303);
  }

  private takeNotice(): string | undefined {
    const key = this.cookies.get(this.request, COOKIE);
    if (key === undefined) return undefined;
    this.cookies.clear(this.reply, COOKIE);
    return Object.hasOwn(NOTICES, key) ? NOTICES[key as PortalNotice] : undefined;
  }

  private binding(what: string): string {
    return `portal ${what} ${this.visitor.sessionDigest.toString('base64url')}`;
  }
}
