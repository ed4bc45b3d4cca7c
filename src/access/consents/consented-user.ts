import type { UserRole } from '#access/users/accounts/user.entity.js';

/** A user who shares data with a client, and the scopes. */
export interface ConsentedUser {
  id: string;
  email: string;
  name: string;
  role: UserRole;
  scopes: string[];
  /** Milliseconds since 1970. */
  grantedAt: number;
  /** The same; null: never. */
  expiresAt: number | null;
}
