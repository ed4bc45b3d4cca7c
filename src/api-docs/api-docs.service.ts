import { Injectable, type OnModuleInit } from '@nestjs/common';
import committed from '../../openapi.json' with { type: 'json' };
import { Settings } from '../config/settings.js';
import { API_REFERENCE_SCRIPT } from '../http/server/assets.js';
import { CompressedAsset } from '../http/server/compressed-asset.js';
import type { OpenApiDocument } from './openapi.js';
import { docsPage } from './pages/docs.page.js';
import { REFERENCE_SETTINGS } from './reference-settings.js';

/** The public URL in the committed document. */
const COMMITTED_URL = 'https://auth.example.com';

/** Stands in the kept page for the value that is new in each response. */
const NONCE = '{nonce}';

/**
 * The OpenAPI document with this service's public URL, and its page, made once when the application starts. The document is the
 * committed one, which tests compare with the controllers: generating it would add 0.1 to 0.4 s to each start.
 */
@Injectable()
export class ApiDocs implements OnModuleInit {
  document!: CompressedAsset;
  private page!: string;

  constructor(private readonly settings: Settings) {}

  onModuleInit(): void {
    const text = JSON.stringify(committed).replaceAll(COMMITTED_URL, this.settings.baseUrl);
    const document = JSON.parse(text) as OpenApiDocument;
    this.document = new CompressedAsset(text, 'application/json; charset=utf-8');
    const reference = API_REFERENCE_SCRIPT && {
      script: API_REFERENCE_SCRIPT,
      nonce: NONCE,
      configuration: REFERENCE_SETTINGS,
    };
    this.page = docsPage(document, reference || undefined);
  }

  /** The page whose script may add style sheets that carry this value. */
  pageWith(nonce: string): string {
    return this.page.replace(NONCE, nonce);
  }
}
