import { ApiSchema } from '@nestjs/swagger';
import { idOf, time } from '../../../http/api/api-schemas.js';
import { viewOf } from '../../../http/api/view-of.js';
import type { GrantInList } from '../../../tokens/grants/grant.js';
import { ACCESS } from '../access.view.js';

/** An active grant on the wire. */
@ApiSchema({ name: 'Grant' })
export class GrantView extends viewOf<GrantInList>()({
  ...ACCESS,
  id: idOf('grnt'),
  created_at: time(),
  expires_at: time(),
}) {}
