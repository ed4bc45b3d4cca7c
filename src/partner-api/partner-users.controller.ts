import { Controller, Get, Param, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { ConsentsService } from '../consents/consents.service.js';
import { PageQuery, pageRequestOf, setPageLinks } from '../http/paging.js';
import { notFound } from '../http/problem.js';
import { USER_ID_PATTERN } from '../secrets/ids.js';
import { CurrentPrincipal } from '../tokens/current-principal.decorator.js';
import { PartnerEndpoint } from '../rate-limits/partner-endpoint.decorator.js';
import type { Principal } from '../tokens/principal.js';
import type { ConsentedUser } from '../consents/consents.repository.js';

/** A user as a partner sees one; `email` and `name` only where the user is the caller (contract §9). */
interface UserView {
  id: string;
  url: string;
  email?: string;
  name?: string;
  scopes: string[];
  consented_at: string;
}

/** The users who share data with the calling client (contract §9). */
@Controller('v2/users')
export class PartnerUsersController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly settings: Settings,
  ) {}

  /** The token's own user; for client credentials every user with a live consent. */
  @Get()
  @PartnerEndpoint()
  async list(
    @Query() query: PageQuery,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UserView[]> {
    const page = await this.consents.listUsers(principal.client.id, principal.userId, pageRequestOf(query));
    setPageLinks(request, reply, this.settings.baseUrl, page, (user) => user.id);
    return page.items.map((user) => this.view(user, principal));
  }

  /** One of them; anybody else is a 404 problem, whether there is such a user or not. */
  @Get(':id')
  @PartnerEndpoint()
  async show(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<UserView> {
    const isVisible = USER_ID_PATTERN.test(id) && (principal.userId === undefined || principal.userId === id);
    const [user] = isVisible
      ? (await this.consents.listUsers(principal.client.id, id, { size: 1 })).items
      : [];
    if (!user) throw notFound('There is no user with this id who shares data with this client.');
    return this.view(user, principal);
  }

  private view(user: ConsentedUser, principal: Principal): UserView {
    const isCaller = principal.userId === user.id;
    return {
      id: user.id,
      url: `${this.settings.baseUrl}/v2/users/${user.id}`,
      ...(isCaller ? { email: user.email, name: user.name } : {}),
      scopes: user.scopes,
      consented_at: user.grantedAt.toISOString(),
    };
  }
}
