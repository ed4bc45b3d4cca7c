import { Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Context } from '#platform/http/page-routes/page-context.js';
import { isId } from '#platform/secrets/ids.js';
import { MemberSessions } from './member-sessions.service.js';
import { choosePortalPage } from './choose-portal.page.js';
import { PortalAccessService } from './portal-access.service.js';
import {
  PortalSignInGet,
  PortalSignInPages,
  PortalSignInPost,
  type PortalSignInAnswer,
  type PortalSignInContext,
} from './portal-sign-in.guard.js';

const NOT_OPEN =
  'This portal cannot be opened: the client is not one of your organisations’, or it is disabled.';

/** Where members choose whose portal they open (contract §20). */
@PortalSignInPages()
export class PortalSignInController {
  constructor(
    private readonly memberSessions: MemberSessions,
    private readonly access: PortalAccessService,
  ) {}

  @PortalSignInGet()
  async list(@Context() { user }: PortalSignInContext): Promise<PortalSignInAnswer> {
    return { page: choosePortalPage({ user, clients: await this.memberSessions.openable(user.id) }) };
  }

  @PortalSignInPost(':client_id')
  async open(
    @Context() { user, actor }: PortalSignInContext,
    @Param('client_id') clientId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PortalSignInAnswer> {
    const opened =
      isId('clnt', clientId) && (await this.access.openForMember(user, clientId, request, reply, actor));
    if (opened) return { goTo: '/portal' };
    const clients = await this.memberSessions.openable(user.id);
    return { page: choosePortalPage({ user, clients, error: NOT_OPEN }), status: 403 };
  }
}
