import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, scopeNames, time } from '../http/api-schemas.js';
import type { GrantInList } from '../tokens/grants.repository.js';

/** An active grant on the wire. */
@ApiSchema({ name: 'Grant' })
export class GrantView {
  @ApiProperty(idOf('grnt'))
  id!: string;

  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty(scopeNames())
  scopes!: string[];

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  expires_at!: string;
}

export const grantView = (grant: GrantInList): GrantView => ({
  id: grant.id,
  client_id: grant.clientId,
  user_id: grant.userId,
  scopes: grant.scopes,
  created_at: grant.createdAt.toISOString(),
  expires_at: grant.expiresAt.toISOString(),
});
