import { ApiProperty } from '@nestjs/swagger';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '#access/clients/client-rules.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  IsOneOf,
  IsOptionalNotNull,
  IsText,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { ENVIRONMENTS, type Environment } from '#access/users/accounts/environment.js';

/** Query of `GET /admin/clients`. */
export class ClientsQuery extends PageQuery {
  @ApiProperty({ description: 'Part of the name, or a client id.' })
  @IsOptionalNotNull()
  @IsText(1, 200)
  q?: string;

  @IsOptionalNotNull()
  @IsOneOf(...ENVIRONMENTS)
  environment?: Environment;
}

/** Body of `POST /admin/clients`. */
export class NewClientDto extends CLIENT.newBody() {}

/** Body of `PATCH /admin/clients/{client_id}`: omitted members stay unchanged. */
export class ClientChangesDto extends CLIENT.changesBody() {}

/** Body of `POST /admin/clients/{client_id}/secrets`. */
export class NewSecretDto {
  @ApiProperty({
    description:
      'Seconds for which the previous secrets stay valid; 0: they expire immediately, and the portal links and sessions of the client end.',
    default: DEFAULT_SECRET_OVERLAP_SECONDS,
  })
  @IsOptionalNotNull()
  @IsWholeNumber(0, 31_536_000)
  expire_previous_in?: number;
}
