import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { ApiAnswer, ApiEndpoint, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { PublishedKey } from '#platform/http/api/published-key.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { WebhookKeys } from './webhook-keys.service.js';

@ApiSchema({ name: 'WebhookKey' })
class WebhookKeyView extends PublishedKey {}

/** A JWK Set (RFC 7517). */
@ApiSchema({ name: 'WebhookKeys' })
class WebhookKeysView {
  @ApiProperty({ type: [WebhookKeyView] }) keys!: WebhookKeyView[];
}

/** The path of the public keys that verify deliveries to a client. */
export const webhookKeysPath = (clientId: string): string => `/.well-known/webhooks/${clientId}/jwks.json`;

/** The public keys of the webhooks of a client (contract §22), as a JWK Set (RFC 7517). */
@Controller('.well-known/webhooks')
@UseGuards(AddressRateLimitGuard)
@ApiTags('Events')
export class WebhookKeysController {
  constructor(
    private readonly keys: WebhookKeys,
    private readonly clients: ClientsService,
  ) {}

  @Get(':client_id/jwks.json')
  @Header('cache-control', 'public, max-age=600')
  @ApiEndpoint(
    'webhookKeys',
    'Keys that sign the webhooks of a client (RFC 7517)',
    'Ed25519, for `v1a` signatures (Standard Webhooks). Empty until an endpoint of the client wants them. Needs no token.',
  )
  @ApiAnswer(200, 'The keys that sign now, newest first.', WebhookKeysView)
  @ApiProblems(429, 500, 503)
  async show(@PathId('client_id', 'clnt') clientId: string): Promise<WebhookKeysView> {
    const keys = await this.keys.published(clientId);
    // Otherwise there is a client, which the keys refer to.
    if (keys.length === 0) await this.clients.get(clientId);
    return { keys };
  }
}
