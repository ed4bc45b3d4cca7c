import { Injectable, Logger } from '@nestjs/common';
import committedOperators from '../../../openapi-operators.json' with { type: 'json' };
import committed from '../../../openapi.json' with { type: 'json' };
import { BrandService } from '#records/brand/brand.service.js';
import { Settings } from '#platform/config/settings.js';
import { CompressedAsset } from '#platform/http/server/compressed-asset.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import type { MemberClient } from '#events/partners/members/member.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { asyncApiOf } from './asyncapi.js';
import { titleOf, type Audience } from './audiences.js';
import type { OpenApiDocument } from './openapi.js';
import { operatorsEventTypes, withEventTypes } from './operators-event-types.js';
import { docsPage } from './pages/docs.page.js';

/** The public URL in the committed document. */
const COMMITTED_URL = 'https://auth.example.com';

/** How soon a change of the catalogue of event types is seen. */
const READ_EVERY_MS = 10_000;

/** What is served: the documents by their audience, and what the events are, for which there is no page. */
interface Served {
  documents: Record<Audience, OpenApiDocument>;
  assets: Record<Audience | 'events', CompressedAsset>;
}

/**
 * The OpenAPI documents with this service's public URL, and their pages; AsyncAPI is made from the one for partners. The documents are the
 * committed ones, which tests compare with the controllers: generating them would add 0.1 to 0.4 s to each start. The one for
 * partners is made again when an operator has changed the catalogue of event types.
 */
@Injectable()
export class ApiDocs {
  private readonly logger = new Logger(ApiDocs.name);
  /** Made when one is first asked for, which spares each start 0.1 s. */
  private describedHere: Record<Audience, OpenApiDocument> | undefined;
  private served: Served | undefined;
  /** In whose name the served documents are. */
  private name: string | undefined;
  /** What operators have added to the served document, and that as text. */
  private types: ReturnType<typeof operatorsEventTypes> = [];
  private added = '[]';
  private readAt: number | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly eventTypes: EventTypesService,
    private readonly brand: BrandService,
  ) {}

  private get described(): Record<Audience, OpenApiDocument> {
    const here = (document: object): OpenApiDocument =>
      JSON.parse(
        JSON.stringify(document).replaceAll(COMMITTED_URL, this.settings.baseUrl),
      ) as OpenApiDocument;
    return (this.describedHere ??= { partners: here(committed), operators: here(committedOperators) });
  }

  async document(of: Audience | 'events'): Promise<CompressedAsset> {
    return (await this.current(of)).assets[of];
  }

  /** What partners are served, as an object: the same until something in it changes. */
  async forPartners(): Promise<OpenApiDocument> {
    return (await this.current('partners')).documents.partners;
  }

  /** The page whose script may add style sheets that carry this value, for a reader with this client. */
  async pageWith(nonce: string, audience: Audience, client?: MemberClient): Promise<LayoutProps> {
    const { documents } = await this.current(audience);
    return docsPage({ document: documents[audience], audience, nonce, brand: this.brand.current, client });
  }

  private async current(of: Audience | 'events'): Promise<Served> {
    if (of !== 'operators') await this.catchUp();
    const { name } = this.brand.current;
    if (this.name !== name) this.served = undefined;
    this.name = name;
    return (this.served ??= this.made(name));
  }

  private made(name: string): Served {
    const { partners, operators } = this.described;
    const withTypes = this.types.length === 0 ? partners : withEventTypes(partners, this.types);
    const documents = {
      partners: titled(withTypes, 'partners', name),
      operators: titled(operators, 'operators', name),
    };
    const assets = {
      partners: asset(documents.partners),
      operators: asset(documents.operators),
      events: asset(asyncApiOf(documents.partners)),
    };
    return { documents, assets };
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
      const types = operatorsEventTypes(await this.eventTypes.listPublic());
      const added = JSON.stringify(types);
      if (added === this.added) return;
      this.types = types;
      this.added = added;
      this.served = undefined;
    } catch (error) {
      // What was served last is better than nothing.
      this.logger.warn(
        `The event types could not be read for the API's description: ${(error as Error).message}`,
      );
    }
  }
}

const titled = (document: OpenApiDocument, audience: Audience, name: string): OpenApiDocument => ({
  ...document,
  info: { ...document.info, title: titleOf(audience, name) },
});

const asset = (document: object): CompressedAsset =>
  new CompressedAsset(JSON.stringify(document), 'application/json; charset=utf-8');
