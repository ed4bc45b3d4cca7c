import type { UserEntity, UserKind, UserRole } from '../users/user.entity.js';

/** A user on the wire; never with a password or its hash. */
export interface UserView {
  id: string;
  email: string;
  name: string;
  kind: UserKind;
  role: UserRole;
  webhooks_enabled: boolean;
  enabled: boolean;
  created_at: string;
  updated_at: string;
}

export const userView = (user: UserEntity): UserView => ({
  id: user.id,
  email: user.email,
  name: user.name,
  kind: user.kind,
  role: user.role,
  webhooks_enabled: user.webhooksEnabled,
  enabled: user.enabled,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});
