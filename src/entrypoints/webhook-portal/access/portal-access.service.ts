import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { SessionLimits } from '#platform/http/guards/session-limits.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { digestOf, isSecret, newSecret } from '#platform/secrets/tokens.js';
import { invalidToken } from '#access/tokens/access/bearer.guard.js';
import type { Principal } from '#access/tokens/access/principal.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { MemberSessions } from './member-sessions.service.js';
import { PortalLinksRepository } from './portal-links.repository.js';
import type { PortalsOf } from './opened-portal.sql.js';
import { LinkSessionsRepository } from './link-sessions.repository.js';
import type { PortalVisitor, OpenedPortal } from './portal-visitor.js';

const COOKIE = 'portal_session';

/** Access to the webhook portal (contract §6): the one-time link, and the session that it opens. */
@Injectable()
export class PortalAccessService {
  constructor(
    private readonly links: PortalLinksRepository,
    private readonly linkSessions: LinkSessionsRepository,
    private readonly memberSessions: MemberSessions,
    private readonly cookies: Cookies,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly limits: SessionLimits,
  ) {}

  /** Creates a one-time link; throws a 403 problem if the caller may not have one, and 401 if the token has just ended. */
  async createLink(principal: Principal): Promise<string> {
    this.checkCaller(principal);
    const key = newSecret('portalKey');
    const stored = await this.links.insertLink(digestOf(key), principal, this.settings.portalLinkTtl);
    if (stored === undefined) throw noPermission();
    if (!stored) throw invalidToken('token_revoked', principal);
    return this.linkOf(key);
  }

  /** A link that opens nothing, as long as one that does; throws a 403 problem if the caller may not have one. */
  emptyLink(principal: Principal): string {
    this.checkCaller(principal);
    return this.linkOf(newSecret('portalKey'));
  }

  /**
   * Throws a 403 problem unless the caller is the client itself: with client credentials or, for a confidential client, with a
   * token of the user who owns it. An end user must not configure where the data of all users of the client is sent.
   */
  private checkCaller({ client, userId }: Principal): void {
    const isClientItself =
      userId === undefined || (client.type === 'confidential' && userId === client.ownerId);
    if (!isClientItself) {
      throw forbidden(
        'You do not have permission to perform this action: only the client itself, or its owner, may open the webhook portal.',
      );
    }
    if (!client.webhooksEnabled) throw noPermission();
    if (client.hasOperatorScope) throw forbidden('A client with scopes for operators has no webhook portal.');
  }

  /** The portal that the link opens; undefined for a link that is used, expired or unknown. */
  async findLink(key: string): Promise<OpenedPortal | undefined> {
    return isSecret('portalKey', key) ? this.links.find(digestOf(key)) : undefined;
  }

  /** Redeems the link and starts a session for one client under a new id; false for a link that no longer works. */
  async redeem(key: string, request: FastifyRequest, reply: FastifyReply, actor: Actor): Promise<boolean> {
    if (!isSecret('portalKey', key)) return false;
    const secret = newSecret('linkSession');
    const ttl = this.settings.portalSessionTtl;
    const opened = await this.transactions.run(async () => {
      const clientId = await this.links.redeem(digestOf(key), digestOf(secret), ttl);
      if (clientId === undefined) return false;
      await this.end(request);
      await this.audit.record(
        { ...actor, type: 'client', id: clientId },
        { action: 'portal_session.started', subjectId: clientId },
      );
      return true;
    });
    if (opened) this.cookies.set(reply, COOKIE, secret, ttl);
    return opened;
  }

  /** Starts the session of a logged-in member, replacing the previous one; false if the user may not open this portal. */
  async openForMember(
    user: SignedInUser,
    clientId: string,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<boolean> {
    const secret = await this.memberSessions.start(user, clientId, actor);
    if (secret === undefined) return false;
    await this.end(request);
    this.cookies.set(reply, COOKIE, secret, this.settings.portalSessionTtl);
    return true;
  }

  /**
   * The portal session of this browser, if any. The request is counted for the account of a member, or for the client that a one-time link
   * opened; throws a 429 problem over the limit (contract §7).
   */
  async visitor(request: FastifyRequest): Promise<PortalVisitor | undefined> {
    const session = this.sessionIn(request);
    if (!session) return undefined;
    const { digest: sessionDigest, isMembers } = session;
    const visitor = isMembers
      ? await this.memberSessions.visitor(sessionDigest, request)
      : await this.visitorByLink(sessionDigest);
    if (!visitor) return undefined;
    const holder = visitor.user
      ? (`user ${visitor.user.id}` as const)
      : (`client ${visitor.clientId}` as const);
    await this.limits.countFound(request, sessionDigest, holder);
    return visitor;
  }

  private async visitorByLink(sessionDigest: Buffer): Promise<PortalVisitor | undefined> {
    const portal = await this.linkSessions.find(sessionDigest);
    return portal && { ...portal, sessionDigest, role: 'developer' };
  }

  async leave(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.end(request);
    this.cookies.clear(reply, COOKIE);
  }

  private async end(request: FastifyRequest): Promise<void> {
    const session = this.sessionIn(request);
    if (!session) return;
    if (session.isMembers) await this.memberSessions.end(session.digest);
    else await this.linkSessions.delete(session.digest);
  }

  @OnDomainEvent('owner.disabled', 2)
  @OnDomainEvent('owner.webhooks_disabled', 2)
  endOfOwner(ownerId: string): Promise<void> {
    return this.endAll({ ownerId });
  }

  /** What the token of an owner opened needs nothing here: it depends on the grant. */
  @OnDomainEvent('client.access_ended', 2)
  @OnDomainEvent('client.secret_ended')
  endOfClient(clientId: string): Promise<void> {
    return this.endAll({ clientId });
  }

  private async endAll(of: PortalsOf): Promise<void> {
    await this.links.deleteAll(of);
    await this.linkSessions.deleteAll(of);
  }

  private linkOf(key: string): string {
    return `${this.settings.baseUrl}/portal/login/${key}`;
  }

  /** The digest in the cookie, and whether the session is a member's. */
  private sessionIn(request: FastifyRequest): { digest: Buffer; isMembers: boolean } | undefined {
    const secret = this.cookies.get(request, COOKIE);
    if (!secret) return undefined;
    const isMembers = isSecret('memberSession', secret);
    return isMembers || isSecret('linkSession', secret) ? { digest: digestOf(secret), isMembers } : undefined;
  }
}

const noPermission = () =>
  forbidden(
    'You do not have permission to perform this action: webhooks are not enabled for the owner of this client.',
  );
