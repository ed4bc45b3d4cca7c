import { ApiProperty, ApiSchema } from '@nestjs/swagger';
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
export class ReportedDisclosureDto {
  @IsIdOf('clnt', 'client')
  client_id!: string;

  @IsIdOf('user', 'user')
  user_id!: string;

  @ApiProperty({ description: 'The scope that covers what was served.', example: 'vehicle:read' })
  @IsMatching(SCOPE_NAME.pattern, violation('name', SCOPE_NAME))
  scope!: string;

  @ApiProperty({ description: 'How often it was served.' })
  @IsWholeNumber(1, REQUESTS_MAX)
  requests!: number;

  @ApiProperty({ description: 'The day in UTC: today, which is the default, or one of the two days before.' })
  @IsOptionalNotNull()
  @IsDay()
  day?: string;
}

/** Body of `POST /v2/disclosures`. */
@ApiSchema({ name: 'DisclosureReport' })
export class DisclosureReportDto {
  @ApiProperty({
    description: 'New for each batch, and the same when a batch is sent again.',
    example: '6f1c2a58-6f6f-4bb5-9b0c-0f5a7a0f4a6e',
  })
  @IsMatching(BATCH_ID, violation('batch_id'))
  batch_id!: string;

  @IsListOfObjects(1, MOST, ReportedDisclosureDto)
  disclosures!: ReportedDisclosureDto[];
}
