import { Injectable, type INestApplication } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { API_REFERENCE_SCRIPT } from '../http/server/assets.js';
import { CompressedAsset } from '../http/server/compressed-asset.js';
import { openApiDocument } from './document.js';
import { docsPage } from './pages/docs.page.js';
import { REFERENCE_SETTINGS } from './reference-settings.js';

/** Stands in the kept page for the value that is new in each response. */
const NONCE = '{nonce}';

/**
 * The OpenAPI document and its page, made once when the application starts. That adds 0.1 to 0.4 s to the start; made at the first
 * request instead, it would hold up all requests of that moment, because nothing else runs meanwhile.
 */
@Injectable()
export class ApiDocs {
  document!: CompressedAsset;
  private page!: string;

  constructor(private readonly settings: Settings) {}

  describe(app: INestApplication): void {
    const document = openApiDocument(app, this.settings.baseUrl);
    this.document = new CompressedAsset(JSON.stringify(document), 'application/json; charset=utf-8');
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
