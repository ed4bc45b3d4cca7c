import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { ApiAnswer, ApiEndpoint, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { oneOf, text } from '#platform/http/api/api-schemas.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { SigningKeys } from './signing-keys.service.js';

/** A public key (RFC 8037). */
@ApiSchema({ name: 'WebhookKey' })
class SigningKeyView {
  @ApiProperty(oneOf('OKP')) kty!: string;
  @ApiProperty(oneOf('Ed25519')) crv!: string;
  @ApiProperty(text('The key, 32 bytes in base64url.')) x!: string;
  @ApiProperty(text('Its thumbprint (RFC 7638).')) kid!: string;
  @ApiProperty(oneOf('sig')) use!: string;
  @ApiProperty(oneOf('EdDSA')) alg!: string;
}

/** A JWK Set (RFC 7517). */
@ApiSchema({ name: 'WebhookKeys' })
class SigningKeysView {
  @ApiProperty({ type: [SigningKeyView] }) keys!: SigningKeyView[];
}

/** The path of the public keys that verify deliveries to a client. */
export const signingKeysPath = (clientId: string): string => `/.well-known/webhooks/${clientId}/jwks.json`;

/** The public keys of the webhooks of a client (contract §22), as a JWK Set (RFC 7517). */
@Controller('.well-known/webhooks')
@UseGuards(AddressRateLimitGuard)
@ApiTags('Events')
export class SigningKeysController {
  constructor(
    private readonly keys: SigningKeys,
    private readonly clients: ClientsService,
  ) {}

  @Get(':client_id/jwks.json')
  @Header('cache-control', 'public, max-age=600')
  @ApiEndpoint(
    'webhookKeys',
    'Keys that sign the webhooks of a client (RFC 7517)',
    'Ed25519, for `v1a` signatures (Standard Webhooks). Empty until an endpoint of the client wants them. Needs no token.',
  )
  @ApiAnswer(200, 'The keys that sign now, newest first.', SigningKeysView)
  @ApiProblems(429, 500, 503)
  async show(@PathId('client_id', 'clnt') clientId: string): Promise<SigningKeysView> {
    const keys = await this.keys.published(clientId);
    // Otherwise there is a client, which the keys refer to.
    if (keys.length === 0) await this.clients.get(clientId);
    return { keys };
  }
}
