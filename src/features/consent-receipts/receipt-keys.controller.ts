import { Controller, Get, Header } from '@nestjs/common';
import { ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ReceiptKeysService } from './receipt-keys.service.js';
import { ApiAnswer, ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { PublishedKey } from '#platform/http/api/published-key.js';

@ApiSchema({ name: 'ReceiptKey' })
class ReceiptKeyView extends PublishedKey {}

/** A JWK Set (RFC 7517). */
@ApiSchema({ name: 'ReceiptKeys' })
class ReceiptKeysView {
  @ApiProperty({ type: [ReceiptKeyView] }) keys!: ReceiptKeyView[];
}

/** The path of the public keys that verify receipts of consents. */
export const RECEIPT_KEYS_PATH = '/.well-known/consent-receipts/jwks.json';

/** The public keys of receipts (docs/consent-receipts.md), as a JWK Set (RFC 7517). */
@Controller(RECEIPT_KEYS_PATH.slice(1))
export class ReceiptKeysController {
  constructor(private readonly keys: ReceiptKeysService) {}

  @Get()
  @Header('cache-control', 'public, max-age=600')
  @ApiEndpoint(
    'receiptKeys',
    'Keys that sign receipts of consents (RFC 7517)',
    'Ed25519. A key stays here for good, so that old receipts can be verified.',
  )
  @ApiTags('OAuth')
  @ApiAnswer(200, 'The keys, newest first.', ReceiptKeysView)
  @ApiProblems(500, 503)
  show(): Promise<ReceiptKeysView> {
    return this.keys.published();
  }
}
