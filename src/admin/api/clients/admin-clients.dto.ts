import { ApiProperty } from '@nestjs/swagger';
import { oneOf } from '../../../http/api/api-schemas.js';
import { DEFAULT_SECRET_OVERLAP_SECONDS } from '../../../clients/client-rules.js';
import {
  CLIENT_TYPES,
  GRANT_TYPES,
  type ClientType,
  type GrantType,
} from '../../../clients/client.entity.js';
import type { ClientChanges, NewClient } from '../../../clients/clients.service.js';
import { ENVIRONMENTS, type Environment } from '../../../users/accounts/environment.js';
import { PageQuery } from '../../../http/api/page-query.js';
import { IsScopeList } from '../scopes/admin-scopes.dto.js';
import {
  Fixed,
  IsIdOf,
  IsListOfDifferent,
  IsOneOf,
  IsText,
  IsTrueOrFalse,
  IsVisibleText,
  IsWholeNumber,
  IsOptionalNotNull,
  MayBeNull,
} from '../../../http/validation/validation.decorators.js';
import { violation } from '../../../http/problems/violation.js';

// Contract §14 sets the same bounds for the default limit.
const RATE_LIMIT_MAX = 1_000_000_000;
const COMPANY_SERVICE =
  'A service of the company: it has operator scopes, and no operator’s role limits it. Required with operator scopes unless the owner is an operator.';

const IsGrantTypeList = (): PropertyDecorator =>
  IsListOfDifferent(
    1,
    20,
    violation('grant_types', { values: GRANT_TYPES }),
    (item) => GRANT_TYPES.some((grantType) => grantType === item),
    oneOf(...GRANT_TYPES),
  );
const IsRedirectUriList = (): PropertyDecorator =>
  IsListOfDifferent(0, 20, violation('redirect_uris', { max: 20 }));
const IsRateLimit = (): PropertyDecorator => IsWholeNumber(1, RATE_LIMIT_MAX, 'or null');

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
export class NewClientDto {
  @IsVisibleText(1, 100)
  name!: string;

  @IsOneOf(...CLIENT_TYPES)
  type!: ClientType;

  @IsGrantTypeList()
  grant_types!: GrantType[];

  @IsScopeList()
  scopes!: string[];

  @IsOptionalNotNull()
  @IsRedirectUriList()
  redirect_uris?: string[];

  @IsIdOf('user', 'user')
  owner_id!: string;

  @ApiProperty({ description: 'Requests per hour; null for the default of the service.' })
  @MayBeNull()
  @IsRateLimit()
  rate_limit?: number | null;

  @ApiProperty({ description: 'Confidential clients only.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  trusted?: boolean;

  @ApiProperty({ description: COMPANY_SERVICE })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  company_service?: boolean;

  @ApiProperty({ description: 'Fixed when it is created; by default live.' })
  @IsOptionalNotNull()
  @IsOneOf(...ENVIRONMENTS)
  environment?: Environment;
}

/** Body of `PATCH /admin/clients/{client_id}`: omitted members stay unchanged. */
export class ClientChangesDto {
  @IsOptionalNotNull()
  @IsVisibleText(1, 100)
  name?: string;

  @IsOptionalNotNull()
  @IsGrantTypeList()
  grant_types?: GrantType[];

  @IsOptionalNotNull()
  @IsRedirectUriList()
  redirect_uris?: string[];

  @ApiProperty({ description: 'Requests per hour; null for the default of the service.' })
  @MayBeNull()
  @IsRateLimit()
  rate_limit?: number | null;

  @ApiProperty({ description: 'Confidential clients only.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  trusted?: boolean;

  @ApiProperty({ description: COMPANY_SERVICE })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  company_service?: boolean;

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  enabled?: boolean;

  @Fixed('client')
  type?: never;

  @Fixed('client')
  scopes?: never;

  @Fixed('client')
  owner_id?: never;

  @Fixed('client')
  environment?: never;
}

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

export const toNewClient = (body: NewClientDto): NewClient => ({
  name: body.name,
  type: body.type,
  grantTypes: body.grant_types,
  scopes: body.scopes,
  redirectUris: body.redirect_uris ?? [],
  ownerId: body.owner_id,
  rateLimit: body.rate_limit,
  trusted: body.trusted,
  companyService: body.company_service,
  environment: body.environment,
});

export const toClientChanges = (body: ClientChangesDto): ClientChanges => ({
  name: body.name,
  redirectUris: body.redirect_uris,
  grantTypes: body.grant_types,
  rateLimit: body.rate_limit,
  trusted: body.trusted,
  companyService: body.company_service,
  enabled: body.enabled,
});
