import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { url } from './api-schemas.js';

/** A link on the wire. */
@ApiSchema({ name: 'Link' })
export class LinkView {
  @ApiProperty(url())
  url!: string;
}
