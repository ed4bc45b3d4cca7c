import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { oneOf, text } from '#platform/http/api/api-schemas.js';

/** A public key (RFC 8037). */
@ApiSchema({ name: 'ReceiptKey' })
export class ReceiptKeyView {
  @ApiProperty(oneOf('OKP'))
  kty!: string;

  @ApiProperty(oneOf('Ed25519'))
  crv!: string;

  @ApiProperty(text('The key, 32 bytes in base64url.'))
  x!: string;

  @ApiProperty(text('Its thumbprint (RFC 7638).'))
  kid!: string;

  @ApiProperty(oneOf('sig'))
  use!: string;

  @ApiProperty(oneOf('EdDSA'))
  alg!: string;
}

/** A JWK Set (RFC 7517). */
@ApiSchema({ name: 'ReceiptKeys' })
export class ReceiptKeysView {
  @ApiProperty({ type: [ReceiptKeyView] })
  keys!: ReceiptKeyView[];
}
