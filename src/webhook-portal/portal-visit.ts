import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { originOf } from '../http/actor.js';
import type { Cookies } from '../http/cookies.js';
import type { CsrfService } from '../http/csrf.service.js';
import type { Form } from '../http/form.js';
import { sendPage } from '../http/html.js';
import type { PortalFrame } from './pages/portal-layout.js';
import type { PortalVisitor } from './portal-access.service.js';

const COOKIE = 'portal_notice';
// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** What a page says after a form was posted. The cookie holds the key alone, so nobody can put other words on the page. */
const NOTICES = {
  endpoint_added:
    'The endpoint is added. Next: put its secret into your application, and send a test to see that it works.',
  endpoint_saved: 'The endpoint is saved.',
  endpoint_enabled: 'The endpoint is enabled: from now on, events are sent to it.',
  endpoint_disabled: 'The endpoint is disabled: no more events are sent to it until you enable it again.',
  endpoint_deleted: 'The endpoint is deleted.',
  secret_rotated:
    'The endpoint has a new secret. Reveal it and put it into your application before the old one ends.',
  resent: 'The delivery is being sent again.',
} as const;

export type PortalNotice = keyof typeof NOTICES;

/** One request from inside the portal: whose session it is, what stands around the page, and how a form is bound and ends. */
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

  /** For the audit trail. */
  get actor(): Actor {
    return { type: 'client', id: this.clientId, ...originOf(this.request) };
  }

  /** What stands around the page; the notice that a form left is shown once. */
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

  /** Throws a 403 problem for a form that is not this session's, or was made for something else. */
  check(form: Form, what: string): void {
    this.csrf.check(this.request, form, this.binding(what));
  }

  /** Answers with a page of the portal. */
  send(reply: FastifyReply, html: string, status = 200): void {
    sendPage(reply, html, { status, withScript: true });
  }

  /** Ends a form: on to a page, which says what was done. */
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
