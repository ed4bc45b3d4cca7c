import { ApiProperty } from '@nestjs/swagger';
import { idOf, scopeNames } from '../../http/api/api-schemas.js';

/** What consents and grants share on the wire: which client may do what for which user. */
export abstract class AccessView {
  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty(scopeNames())
  scopes!: string[];
}

interface Access {
  clientId: string;
  userId: string;
  scopes: string[];
}

export const accessView = ({ clientId, userId, scopes }: Access): AccessView => ({
  client_id: clientId,
  user_id: userId,
  scopes,
});
