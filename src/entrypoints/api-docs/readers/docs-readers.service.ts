import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ClientsService } from '#access/clients/clients.service.js';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { Cookies } from '#platform/http/server/cookies.js';
import type { MemberClient } from '#events/partners/members/member.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { PortalAccessService } from '#entrypoints/webhook-portal/access/portal-access.service.js';
import type { PortalVisitor } from '#entrypoints/webhook-portal/access/portal-visitor.js';
import type { DocsReader } from './docs-reader.js';

/** Remembers for which sandbox client a reader has the guides. */
const COOKIE = 'docs_client';

/** The reader of the documentation, as far as the pages depend on it (contract §24). */
@Injectable()
export class DocsReaders {
  constructor(
    private readonly sessions: SessionsService,
    private readonly factors: SecondFactorService,
    private readonly members: MembersService,
    private readonly portals: PortalAccessService,
    private readonly clients: ClientsService,
    private readonly cookies: Cookies,
    private readonly limits: AddressLimits,
  ) {}

  /**
   * A member of a partner's organisation, or a browser that opened a portal with a one-time link; undefined for everyone else.
   * Nothing is looked up for a browser without a session, which counts for its address (contract §7), nor for an address over its
   * limit. `?client=` chooses one of the reader's clients; that of a sandbox is remembered.
   */
  async of(request: FastifyRequest, reply: FastifyReply): Promise<DocsReader | undefined> {
    this.limits.refuseOverLimit(request);
    const [user, visitor] = await Promise.all([
      this.sessions.current(request),
      this.portals.visitor(request),
    ]);
    if (!user && !visitor) {
      await this.limits.countAddress(request);
      return undefined;
    }
    const [own, byLink] = await Promise.all([this.clientsOfMember(user), this.clientOfLink(visitor)]);
    const clients = byLink && !withId(own, byLink.id) ? [byLink, ...own] : own;
    if (clients.length === 0) return undefined;
    const asked = Form.parse(queryStringOf(request.url)).get('client');
    const sandbox = clients.filter(({ environment }) => environment === 'sandbox');
    const live = clients.filter(({ environment }) => environment === 'live');
    const chosen = withId(sandbox, asked);
    if (chosen) this.cookies.set(reply, COOKIE, chosen.id);
    return {
      sandbox: {
        all: sandbox,
        chosen: chosen ?? withId(sandbox, this.cookies.get(request, COOKIE)) ?? sandbox[0],
      },
      live: { all: live, chosen: withId(live, asked) ?? live[0] },
      byLink,
    };
  }

  private async clientsOfMember(user: SignedInUser | undefined): Promise<MemberClient[]> {
    if (!user || (await this.factors.leadingToFactor(user, '/docs')) !== undefined) return [];
    return this.members.clientsOf(user.id);
  }

  /** The client whose portal a one-time link opened in this browser. */
  private async clientOfLink(visitor: PortalVisitor | undefined): Promise<MemberClient | undefined> {
    if (!visitor || visitor.user) return undefined;
    const client = await this.clients.find(visitor.clientId);
    if (!client) return undefined;
    const { id, name, environment, redirectUris } = client;
    const { ownerId: organisationId, ownerName: organisationName } = visitor;
    return { id, name, environment, redirectUris, organisationId, organisationName };
  }
}

const withId = (clients: MemberClient[], id: string | undefined): MemberClient | undefined =>
  clients.find((client) => client.id === id);
