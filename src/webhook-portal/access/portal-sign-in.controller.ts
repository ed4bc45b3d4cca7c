import { Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Context } from '../../http/page-routes/page-context.js';
import { isId } from '../../secrets/ids.js';
import { MemberSessions } from './member-sessions.service.js';
import { choosePortalPage } from './choose-portal.page.js';
import { PortalAccessService } from './portal-access.service.js';
import {
  SignInGet,
  SignInPages,
  SignInPost,
  type SignInAnswer,
  type SignInContext,
} from './portal-sign-in.guard.js';

const NOT_OPEN =
  'This portal cannot be opened: the client is not one of your organisations’, or it is disabled.';

/** Where members choose whose portal they open (contract §20). */
@SignInPages()
export class PortalSignInController {
  constructor(
    private readonly sessions: MemberSessions,
    private readonly access: PortalAccessService,
  ) {}

  @SignInGet()
  async list(@Context() { user }: SignInContext): Promise<SignInAnswer> {
    return { page: choosePortalPage({ user, clients: await this.sessions.openable(user.id) }) };
  }

  @SignInPost(':client_id')
  async open(
    @Context() { user, actor }: SignInContext,
    @Param('client_id') clientId: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SignInAnswer> {
    const opened = isId('clnt', clientId) && (await this.access.open(user, clientId, request, reply, actor));
    if (opened) return { goTo: '/portal' };
    const clients = await this.sessions.openable(user.id);
    return { page: choosePortalPage({ user, clients, error: NOT_OPEN }), status: 403 };
  }
}
