import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { OnDomainEvent, Answers } from '#platform/database/domain/domain-map.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { MemberSessionsRepository, type OpenableClient, type Portals } from './member-sessions.repository.js';
import type { PortalVisitor } from './portal-visitor.js';
import { say } from '#platform/language/text.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';

// As many as are easy to scan; `/portal/sign-in` lists all of them.
const OTHERS_SHOWN = 10;

/**
 * Portal sessions of logged-in members (contract §20). A session lasts as long as its login in the same browser; the membership and
 * the role are checked at each request.
 */
@Injectable()
export class MemberSessions {
  constructor(
    private readonly repository: MemberSessionsRepository,
    private readonly logins: SessionsService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** The clients of the user's organisations whose portals can be opened. */
  openable(userId: string): Promise<OpenableClient[]> {
    return this.repository.openable(userId);
  }

  /** What the layout of the visitor's portal shows, in one statement; with a one-time link, nothing about other clients. */
  async portalsOf({ clientId, user }: PortalVisitor): Promise<Portals> {
    if (!user) return { failing: await this.repository.failingOf(clientId), others: [] };
    const found = await this.repository.openable(user.id, clientId, OTHERS_SHOWN + 1);
    const isOwn = ({ id }: OpenableClient) => id === clientId;
    return { failing: found.find(isOwn)?.failing ?? 0, others: found.filter((each) => !isOwn(each)) };
  }

  /** Starts a session; returns its secret, for the cookie, or undefined if the user may not open the portal of this client. */
  async start(user: SignedInUser, clientId: string, actor: Actor): Promise<string | undefined> {
    const secret = newSecret('memberSession');
    const session = {
      digest: digestOf(secret),
      clientId,
      userId: user.id,
      loginId: user.loginId,
      ttl: this.settings.portalSessionTtl,
    };
    const started = await this.transactions.run(async () => {
      if (!(await this.repository.start(session))) return false;
      await this.audit.record(actor, { action: 'portal_session.started', subjectId: clientId });
      return true;
    });
    return started ? secret : undefined;
  }

  /** The member with this session, if the login that started it is still active in this browser. */
  async visitor(sessionDigest: Buffer, request: FastifyRequest): Promise<PortalVisitor | undefined> {
    const session = await this.repository.find(sessionDigest);
    const user = session && (await this.logins.current(request));
    if (!user || user.id !== session.userId || user.loginId !== session.loginId) return undefined;
    return { ...session, sessionDigest, user };
  }

  async end(sessionDigest: Buffer): Promise<void> {
    await this.repository.delete(sessionDigest);
  }

  @OnDomainEvent('owner.disabled', 1)
  @OnDomainEvent('owner.webhooks_disabled', 1)
  async endOfOwner(ownerId: string): Promise<void> {
    await this.repository.deleteAll({ ownerId });
  }

  /** Not when a secret of the client ends: a member's session depends on none. */
  @OnDomainEvent('client.access_ended', 1)
  async endOfClient(clientId: string): Promise<void> {
    await this.repository.deleteAll({ clientId });
  }

  @Answers('user.personal_data')
  portalSessions() {
    return section({
      name: 'portal_sessions',
      place: 94,
      title: say('Sessions in the webhook portal'),
      about: say('That you opened the webhook portal lately.'),
      read: async (userId: string, limit: number) => {
        const found = await this.repository.listOf(userId, limit);
        return found.map((session) => recordOf(session, 'clientId', 'createdAt', 'expiresAt'));
      },
      columns: {
        [say('Opened')]: ({ created_at: at }) => at,
        [say('Ends')]: ({ expires_at: at }) => at,
      },
    });
  }
}
