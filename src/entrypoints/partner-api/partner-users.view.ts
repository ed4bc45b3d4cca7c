import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, optional, scopeNames, text, time, url } from '#platform/http/api/api-schemas.js';

/** A user as a partner sees it; `email` and `name` only if the user is the caller (contract §9). */
@ApiSchema({ name: 'PartnerUser' })
export class PartnerUserView {
  @ApiProperty(idOf('user'))
  id!: string;

  @ApiProperty(url())
  url!: string;

  @ApiProperty(optional(text('Only where the user is the caller.')))
  email?: string;

  @ApiProperty(optional(text('Only where the user is the caller.')))
  name?: string;

  @ApiProperty(scopeNames())
  scopes!: string[];

  @ApiProperty(optional(time('Absent for the owner of a client who has not consented to it.')))
  consented_at?: string;
}
