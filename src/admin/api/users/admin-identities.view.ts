import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { text, time } from '../../../http/api/api-schemas.js';
import type { Identity } from '../../../identity-providers/identity.js';

/** A link of a user to an identity provider, on the wire. */
@ApiSchema({ name: 'Identity' })
export class IdentityView {
  @ApiProperty(text('The provider’s id in the settings.', { example: 'company' }))
  provider!: string;

  @ApiProperty(text(undefined, { example: 'https://login.company.example' }))
  issuer!: string;

  @ApiProperty(text('The person’s id there.', { example: '248289761001' }))
  subject!: string;

  @ApiProperty(time())
  linked_at!: string;

  @ApiProperty(time())
  last_used_at!: string;
}

export const identityView = (identity: Identity): IdentityView => ({
  provider: identity.provider,
  issuer: identity.issuer,
  subject: identity.subject,
  linked_at: identity.linkedAt.toISOString(),
  last_used_at: identity.lastUsedAt.toISOString(),
});
