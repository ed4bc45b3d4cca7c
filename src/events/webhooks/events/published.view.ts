import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, whole } from '#platform/http/api/api-schemas.js';

/** A published event on the wire. */
@ApiSchema({ name: 'PublishedEvent' })
export class PublishedView {
  @ApiProperty(idOf('evnt'))
  id!: string;

  @ApiProperty(whole('The number of endpoints it is sent to.'))
  deliveries!: number;
}
