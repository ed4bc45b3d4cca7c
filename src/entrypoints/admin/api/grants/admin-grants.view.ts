import { ApiSchema } from '@nestjs/swagger';
import { idOf, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { GrantInList } from '#access/tokens/grants/grant.js';
import { ACCESS } from '../access.view.js';

/** An active grant on the wire. */
@ApiSchema({ name: 'Grant' })
export class GrantView extends viewOf<GrantInList>()({
  ...ACCESS,
  id: idOf('grnt'),
  created_at: time(),
  expires_at: time(),
}) {}
