import type { GrantInList } from '../tokens/grants.repository.js';

/** A live grant on the wire. */
export interface GrantView {
  id: string;
  client_id: string;
  user_id: string;
  scopes: string[];
  created_at: string;
  expires_at: string;
}

export const grantView = (grant: GrantInList): GrantView => ({
  id: grant.id,
  client_id: grant.clientId,
  user_id: grant.userId,
  scopes: grant.scopes,
  created_at: grant.createdAt.toISOString(),
  expires_at: grant.expiresAt.toISOString(),
});
