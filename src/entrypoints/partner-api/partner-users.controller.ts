import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import { ACCOUNT_DATA } from '#events/disclosures/disclosure.js';
import { ApiEndpoint, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { notFound } from '#platform/http/problems/problem.js';
import { USER_ID_PATTERN } from '#platform/secrets/ids.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import {
  PartnerAnswer,
  PartnerEndpoint,
  PartnerPage,
} from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import type { ConsentedUser } from '#access/consents/consent.entity.js';
import { idOf, optional, scopeNames, text, time, url } from '#platform/http/api/api-schemas.js';

/** A user as a partner sees it; `email` and `name` only if the user is the caller (contract §9). */
@ApiSchema({ name: 'PartnerUser' })
class PartnerUserView {
  @ApiProperty(idOf('user')) id!: string;
  @ApiProperty(url()) url!: string;
  @ApiProperty(optional(text('Only where the user is the caller.'))) email?: string;
  @ApiProperty(optional(text('Only where the user is the caller.'))) name?: string;
  @ApiProperty(scopeNames()) scopes!: string[];

  @ApiProperty(optional(time('Absent for the owner of a client who has not consented to it.')))
  consented_at?: string;
}

/** Whether this is the URL in `instance` of the caller's 429 (contract §8). */
const isInstance = ({ params }: FastifyRequest, { userId, client }: Principal): boolean =>
  (params as { id?: string }).id === (userId ?? client.ownerId);

/** The users who share data with the calling client (contract §9). */
@Controller('v2/users')
@ApiTags('Users')
export class PartnerUsersController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly settings: Settings,
    private readonly reads: DisclosedReadsService,
  ) {}

  /** The token's own user; for client credentials all users with an active consent. */
  @Get()
  @PartnerEndpoint()
  @ApiEndpoint(
    'listUsers',
    'The users who share data with the client',
    'With a user’s token that user; with a client-credentials token all users with an active consent.',
  )
  @PartnerPage(PartnerUserView)
  async list(
    @Query() query: PageQuery,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<ListAnswer<PartnerUserView>> {
    return listAnswer(
      await this.consents.listUsers(principal.client.id, principal.userId, pageRequestOf(query)),
      (user) => this.view(user, principal, request),
    );
  }

  /** The token's own user, for client libraries that ask who logged in; without a user (client credentials) a 404 problem. */
  @Get('me')
  @PartnerEndpoint()
  @ApiEndpoint(
    'getOwnUser',
    'The user behind the token',
    'The user-info endpoint for libraries that ask who logged in: one object, with `email` and `name`. A client-credentials token has no user: 404.',
  )
  @PartnerAnswer('The user.', PartnerUserView)
  @ApiProblems(404)
  showSelf(
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PartnerUserView> {
    return this.find(principal.userId, principal, request);
  }

  /** One of them, and for client credentials also the client's owner. Any other id is a 404 problem, whether it exists or not. */
  @Get(':id')
  @PartnerEndpoint({ readOverLimit: isInstance })
  @ApiEndpoint(
    'getUser',
    'Get a user',
    'A client-credentials token also sees the owner of its client. The URL in `instance` of a 429 stays available while the limit is exceeded.',
  )
  @PartnerAnswer('The user.', PartnerUserView)
  async show(
    @PathId('id', 'user') id: string,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PartnerUserView> {
    const isVisible = USER_ID_PATTERN.test(id) && (principal.userId === undefined || principal.userId === id);
    return this.find(isVisible ? id : undefined, principal, request);
  }

  private async find(
    id: string | undefined,
    principal: Principal,
    request: FastifyRequest,
  ): Promise<PartnerUserView> {
    const [user] =
      id === undefined ? [] : (await this.consents.listUsers(principal.client.id, id, { size: 1 })).items;
    if (!user && principal.userId === undefined && id === principal.client.ownerId) {
      return { id, url: this.urlOf(id), scopes: [] };
    }
    if (!user) throw notFound('No user with this id shares data with this client.');
    return this.view(user, principal, request);
  }

  private view(user: ConsentedUser, principal: Principal, { method }: FastifyRequest): PartnerUserView {
    const isCaller = principal.userId === user.id;
    // The answer to HEAD holds nothing.
    if (isCaller && method !== 'HEAD')
      this.reads.note({ clientId: principal.client.id, userId: user.id, scope: ACCOUNT_DATA });
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
