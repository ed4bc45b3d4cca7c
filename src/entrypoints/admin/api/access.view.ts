import { idOf, scopeNames, whole } from '#platform/http/api/api-schemas.js';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** The result of ending grants on the wire. */
@ApiSchema({ name: 'Revoked' })
export class RevokedView {
  @ApiProperty(whole('The number of grants that were revoked.')) revoked!: number;
}

/** What consents and grants share on the wire: which client may do what for which user. */
export const ACCESS = { client_id: idOf('clnt'), user_id: idOf('user'), scopes: scopeNames() };
