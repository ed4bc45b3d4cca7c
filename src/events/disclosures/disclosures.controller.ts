import { Body, Controller, Post, UseGuards } from '@nestjs/common';
import { ApiSecurity, ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiAnswer, ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { LimitedBearerGuard } from '#access/rate-limits/partners/limited-bearer.guard.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { RequireScopes, ScopesGuard } from '#access/tokens/access/scopes.guard.js';
import { realmOf } from '#access/users/accounts/environment.js';
import { whole } from '#platform/http/api/api-schemas.js';
import { DisclosuresService } from './disclosures.service.js';
import { violation } from '#platform/http/problems/violation.js';
import {
  IsDay,
  IsIdOf,
  IsListOfObjects,
  IsMatching,
  IsOptionalNotNull,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { SCOPE_NAME } from '#access/scopes/scope-name.js';

/** As many as fit into a body. */
const MOST = 300;
const REQUESTS_MAX = 1_000_000;
const BATCH_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Data of one user that was served to one client. */
@ApiSchema({ name: 'ReportedDisclosure' })
class ReportedDisclosureDto {
  @IsIdOf('clnt', 'client') client_id!: string;
  @IsIdOf('user', 'user') user_id!: string;

  @ApiProperty({ description: 'The scope that covers what was served.', example: 'vehicle:read' })
  @IsMatching(SCOPE_NAME.pattern, violation('name', SCOPE_NAME))
  scope!: string;

  @ApiProperty({ description: 'How often it was served.' }) @IsWholeNumber(1, REQUESTS_MAX) requests!: number;

  @ApiProperty({ description: 'The day in UTC: today, which is the default, or one of the two days before.' })
  @IsOptionalNotNull()
  @IsDay()
  day?: string;
}

/** Body of `POST /v2/disclosures`. */
@ApiSchema({ name: 'DisclosureReport' })
class DisclosureReportDto {
  @ApiProperty({
    description: 'New for each batch, and the same when a batch is sent again.',
    example: '6f1c2a58-6f6f-4bb5-9b0c-0f5a7a0f4a6e',
  })
  @IsMatching(BATCH_ID, violation('batch_id'))
  batch_id!: string;

  @IsListOfObjects(1, MOST, ReportedDisclosureDto) disclosures!: ReportedDisclosureDto[];
}

/** The result of a report. */
@ApiSchema({ name: 'CountedDisclosures' })
class CountedView {
  @ApiProperty(
    whole(
      'How many of the disclosures were counted. Those about users who never consented to the client, or were erased, are left out.',
    ),
  )
  counted!: number;
}

/** The scope of the services that decide what a token may read: they know what was read with it. */
const SCOPE = 'token:introspect';

/** Where the company's data services report what they served (contract §26). */
@Controller('v2/disclosures')
@UseGuards(LimitedBearerGuard, ScopesGuard)
@RequireScopes(SCOPE)
@ApiTags('Disclosures')
export class DisclosuresController {
  constructor(private readonly disclosures: DisclosuresService) {}

  /** 200 with the number of disclosures that were counted; the same for the same batch again. */
  @Post()
  @ApiEndpoint(
    'reportDisclosures',
    'Report what was served',
    'For the company’s own data services, which introspect tokens: how often they served which data of whom. Users see the sums by day. ' +
      'A batch counts once: the same `batch_id` with the same disclosures returns the same response for 72 hours. The guard package reports by itself.',
  )
  @ApiSecurity('oauth2', [SCOPE])
  @ApiAnswer(200, 'The batch is counted, now or before.', CountedView)
  @ApiProblems(400, 401, 403, 413, 415, 422, 429, 500, 503)
  async report(
    @Body() { batch_id, disclosures }: DisclosureReportDto,
    @CurrentPrincipal() { client }: Principal,
  ): Promise<CountedView> {
    const counted = await this.disclosures.report(
      { id: client.id, realm: realmOf(client) },
      batch_id,
      disclosures.map(({ client_id: clientId, user_id: userId, scope, requests, day = null }) => ({
        clientId,
        userId,
        scope,
        requests,
        day,
      })),
    );
    return { counted };
  }
}
