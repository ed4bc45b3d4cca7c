import type { UserRole } from '#access/users/accounts/user.entity.js';
import type { GrantEntity } from './grant.entity.js';

/** What a user gave a client in one authorization: the family of tokens issued from one code. */
export type Grant = Pick<GrantEntity, 'id' | 'clientId' | 'userId' | 'scopes'>;

/** An active grant in a list, with the names of its client and user. */
export interface GrantInList extends Grant {
  createdAt: Date;
  expiresAt: Date;
  clientName: string;
  userName: string;
  userRole: UserRole;
}
