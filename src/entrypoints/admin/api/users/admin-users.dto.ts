import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_ROLES, type OperatorRole } from '#platform/config/operator-role.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  Fixed,
  IsOneOf,
  IsOptionalNotNull,
  IsSearch,
} from '#platform/http/validation/validation.decorators.js';
import { ENVIRONMENTS, type Environment } from '#access/users/accounts/environment.js';
import { USER } from '#access/users/accounts/user.resource.js';

/** Query of `GET /admin/users`. */
export class UsersQuery extends PageQuery {
  @ApiProperty({ description: 'Part of the name or email, with at least three letters or digits, or an id.' })
  @IsOptionalNotNull()
  @IsSearch(200)
  q?: string;

  @ApiProperty({ description: 'Only operators with this role.' })
  @IsOptionalNotNull()
  @IsOneOf(...OPERATOR_ROLES)
  operator_role?: OperatorRole;

  @ApiProperty({ description: 'By default live: the drivers of sandboxes are listed only on request.' })
  @IsOptionalNotNull()
  @IsOneOf(...ENVIRONMENTS)
  environment?: Environment;
}

/** Body of `POST /admin/users`. */
export class NewUserDto extends USER.newBody() {}

/** Body of `PATCH /admin/users/{id}`: omitted members stay unchanged. */
export class UserChangesDto extends USER.changesBody() {
  @Fixed('user')
  environment?: never;
}
