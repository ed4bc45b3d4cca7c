import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { whole } from '#platform/http/api/api-schemas.js';

/** The result of ending grants on the wire. */
@ApiSchema({ name: 'Revoked' })
export class RevokedView {
  @ApiProperty(whole('The number of grants that were revoked.'))
  revoked!: number;
}
