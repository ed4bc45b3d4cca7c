import { ApiProperty } from '@nestjs/swagger';
import { oneOf, text } from './api-schemas.js';

/** A public Ed25519 key in a JWK Set (RFC 8037). */
export class PublishedKey {
  @ApiProperty(oneOf('OKP')) kty!: string;
  @ApiProperty(oneOf('Ed25519')) crv!: string;
  @ApiProperty(text('The key, 32 bytes in base64url.')) x!: string;
  @ApiProperty(text('Its thumbprint (RFC 7638).')) kid!: string;
  @ApiProperty(oneOf('sig')) use!: string;
  @ApiProperty(oneOf('EdDSA')) alg!: string;
}

/** The 32 bytes of a public key as a JWK. */
export const ed25519Jwk = (publicKey: Buffer) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  x: publicKey.toString('base64url'),
});

export const publishedKey = (publicKey: Buffer, kid: string): PublishedKey => ({
  ...ed25519Jwk(publicKey),
  ...{ kid, use: 'sig', alg: 'EdDSA' },
});
