import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { whole } from '#platform/http/api/api-schemas.js';

/** The result of a report. */
@ApiSchema({ name: 'CountedDisclosures' })
export class CountedView {
  @ApiProperty(
    whole(
      'How many of the disclosures were counted. Those about users who never consented to the client, or were erased, are left out.',
    ),
  )
  counted!: number;
}
