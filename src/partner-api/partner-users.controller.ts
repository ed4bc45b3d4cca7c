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

/** A user as a partner sees it; `email` and `name` only if the user is the caller (contract §9). */
interface UserView {
  id: string;
  url: string;
  email?: string;
  name?: string;
  scopes: string[];
  /** Absent for an owner who has not consented. */
  consented_at?: string;
}

/** Whether this is the URL in `instance` of the caller's 429 (contract §8). */
const isInstance = ({ params }: FastifyRequest, { userId, client }: Principal): boolean =>
  (params as { id?: string }).id === (userId ?? client.ownerId);

/** The users who share data with the calling client (contract §9). */
@Controller('v2/users')
export class PartnerUsersController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly settings: Settings,
  ) {}

  /** The token's own user; for client credentials all users with a live consent. */
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

  /** The token's own user, for client libraries that ask who logged in; without a user (client credentials) a 404 problem. */
  @Get('me')
  @PartnerEndpoint()
  showSelf(@CurrentPrincipal() principal: Principal): Promise<UserView> {
    return this.find(principal.userId, principal);
  }

  /** One of them, and for client credentials also the client's owner. Any other id is a 404 problem, whether it exists or not. */
  @Get(':id')
  @PartnerEndpoint({ readOverLimit: isInstance })
  async show(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<UserView> {
    const isVisible = USER_ID_PATTERN.test(id) && (principal.userId === undefined || principal.userId === id);
    return this.find(isVisible ? id : undefined, principal);
  }

  private async find(id: string | undefined, principal: Principal): Promise<UserView> {
    const [user] =
      id === undefined ? [] : (await this.consents.listUsers(principal.client.id, id, { size: 1 })).items;
    if (!user && principal.userId === undefined && id === principal.client.ownerId) {
      return { id, url: this.urlOf(id), scopes: [] };
    }
    if (!user) throw notFound('No user with this id shares data with this client.');
    return this.view(user, principal);
  }

  private view(user: ConsentedUser, principal: Principal): UserView {
    const isCaller = principal.userId === user.id;
    return {
      id: user.id,
      url: this.urlOf(user.id),
      ...(isCaller ? { email: user.email, name: user.name } : {}),
      scopes: user.scopes,
      consented_at: new Date(user.grantedAt).toISOString(),
    };
  }

  private urlOf(id: string): string {
    return `${this.settings.baseUrl}/v2/users/${id}`;
  }
}
