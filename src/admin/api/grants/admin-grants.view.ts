import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, time } from '../../../http/api/api-schemas.js';
import type { GrantInList } from '../../../tokens/grants/grant.js';
import { AccessView, accessView } from '../access.view.js';

/** An active grant on the wire. */
@ApiSchema({ name: 'Grant' })
export class GrantView extends AccessView {
  @ApiProperty(idOf('grnt'))
  id!: string;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  expires_at!: string;
}

export const grantView = (grant: GrantInList): GrantView => ({
  id: grant.id,
  ...accessView(grant),
  created_at: grant.createdAt.toISOString(),
  expires_at: grant.expiresAt.toISOString(),
});
