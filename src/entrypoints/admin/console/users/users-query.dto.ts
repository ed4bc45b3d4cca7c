import { IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { UsersQuery } from '../../api/users/admin-users.dto.js';

/** The filter of the console's users: as in the admin API, and those who are disabled. */
export class ConsoleUsersQuery extends UsersQuery {
  @IsOptionalNotNull()
  @IsOneOf('disabled')
  state?: 'disabled';
}
