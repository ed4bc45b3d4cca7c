import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Form, queryStringOf } from '../../http/forms/form.js';
import { Cookies } from '../../http/server/cookies.js';
import type { MemberClient } from '../../partners/members/member-client.js';
import { MembersService } from '../../partners/members/members.service.js';
import { SecondFactorService } from '../../users/factors/second-factor.service.js';
import { SessionsService } from '../../users/sessions/sessions.service.js';

/** Remembers for which sandbox client a member reads the guides. */
const COOKIE = 'docs_client';

/** A member of a partner's organisation who reads the documentation. */
export interface DocsReader {
  /** The sandbox clients of the reader's organisations, of which one is chosen if there is any. */
  sandbox: { all: MemberClient[]; chosen?: MemberClient };
  live: { all: MemberClient[]; chosen?: MemberClient };
}

/** Who reads the documentation, as far as that changes what it shows (contract §24). */
@Injectable()
export class DocsReaders {
  constructor(
    private readonly sessions: SessionsService,
    private readonly factors: SecondFactorService,
    private readonly members: MembersService,
    private readonly cookies: Cookies,
  ) {}

  /**
   * The member; undefined for everybody else. Nothing is looked up for a browser without a login. `?client=` chooses one of the reader's
   * clients; that of a sandbox is remembered.
   */
  async of(request: FastifyRequest, reply: FastifyReply): Promise<DocsReader | undefined> {
    const user = await this.sessions.current(request);
    if (!user || (await this.factors.leadingToFactor(user, '/docs')) !== undefined) return undefined;
    const clients = await this.members.clientsOf(user.id);
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
    };
  }
}

const withId = (clients: MemberClient[], id: string | undefined): MemberClient | undefined =>
  clients.find((client) => client.id === id);
