import { Injectable, Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import committed from '../../openapi.json' with { type: 'json' };
import { Settings } from '../config/settings.js';
import { API_REFERENCE_SCRIPT } from '../http/server/assets.js';
import { CompressedAsset } from '../http/server/compressed-asset.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import type { OpenApiDocument } from './openapi.js';
import { operatorsEventTypes, withEventTypes } from './operators-event-types.js';
import { docsPage } from './pages/docs.page.js';
import { REFERENCE_SETTINGS } from './reference-settings.js';

/** The public URL in the committed document. */
const COMMITTED_URL = 'https://auth.example.com';

/** Stands in the kept page for the value that is new in each response; in no text of an operator. */
const NONCE = randomBytes(16).toString('hex');
/** How soon a change of the catalogue of event types is seen. */
const READ_EVERY_MS = 10_000;

/** The document and its page, as they are sent. */
interface Served {
  document: CompressedAsset;
  page: string;
}

/**
 * The OpenAPI document with this service's public URL, and its page. The document is the committed one, which tests compare with
 * the controllers: generating it would add 0.1 to 0.4 s to each start. Both are made again when an operator has changed the
 * catalogue of event types.
 */
@Injectable()
export class ApiDocs {
  private readonly logger = new Logger(ApiDocs.name);
  private readonly described: OpenApiDocument;
  private served: Served;
  /** What operators have added to the served document. */
  private added = '[]';
  private readAt: number | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    settings: Settings,
    private readonly types: EventTypesService,
  ) {
    const text = JSON.stringify(committed).replaceAll(COMMITTED_URL, settings.baseUrl);
    this.described = JSON.parse(text) as OpenApiDocument;
    this.served = served(this.described);
  }

  async document(): Promise<CompressedAsset> {
    await this.catchUp();
    return this.served.document;
  }

  /** The page whose script may add style sheets that carry this value. */
  async pageWith(nonce: string): Promise<string> {
    await this.catchUp();
    return this.served.page.replace(NONCE, nonce);
  }

  private async catchUp(): Promise<void> {
    if (this.readAt !== undefined && performance.now() - this.readAt < READ_EVERY_MS) return;
    this.reading ??= this.read().finally(() => {
      this.readAt = performance.now();
      this.reading = undefined;
    });
    await this.reading;
  }

  private async read(): Promise<void> {
    try {
      const types = operatorsEventTypes(await this.types.listPublic());
      const added = JSON.stringify(types);
      if (added === this.added) return;
      this.served = served(withEventTypes(this.described, types));
      this.added = added;
    } catch (error) {
      // What was served last is better than nothing.
      this.logger.warn(
        `The event types could not be read for the API's description: ${(error as Error).message}`,
      );
    }
  }
}

function served(document: OpenApiDocument): Served {
  const reference = API_REFERENCE_SCRIPT && {
    script: API_REFERENCE_SCRIPT,
    nonce: NONCE,
    configuration: REFERENCE_SETTINGS,
  };
  return {
    document: new CompressedAsset(JSON.stringify(document), 'application/json; charset=utf-8'),
    page: docsPage(document, reference || undefined),
  };
}
