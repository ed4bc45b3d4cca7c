import { isId } from '#platform/secrets/ids.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { UsersService } from '#access/users/accounts/users.service.js';

/** The user with this email or id: people type emails, links contain ids. */
export async function namedUser(users: UsersService, text: string): Promise<UserEntity | null> {
  if (text.includes('@')) return users.findByEmail(text);
  return isId('user', text) ? users.find(text) : null;
}
