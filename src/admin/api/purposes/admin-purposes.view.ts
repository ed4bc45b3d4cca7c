import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { text } from '../../../http/api/api-schemas.js';
import type { PurposeEntity, PurposeWords } from '../../../scopes/purposes/purpose.entity.js';
import { PURPOSE_WORDS } from './admin-purposes.dto.js';

/** A purpose on the wire. */
@ApiSchema({ name: 'Purpose' })
export class PurposeView {
  @ApiProperty(text(undefined, { example: 'route_planning' }))
  name!: string;

  @ApiProperty(PURPOSE_WORDS)
  words!: PurposeWords;
}

export const purposeView = ({ name, words }: PurposeEntity): PurposeView => ({ name, words });
