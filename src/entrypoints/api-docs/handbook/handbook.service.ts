import { Injectable } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { besideCode } from '#platform/config/package-root.js';
import { Settings } from '#platform/config/settings.js';
import type { Brand } from '#platform/web/layout/brand.js';
import { renderPage, type LayoutProps } from '#platform/web/layout/layout.js';
import { handbookIndexPage, handbookPage, type ForReader } from '../pages/handbook.page.js';
import { GoingLive } from '../going-live/going-live.service.js';
import { pathOf, SHELVES } from './catalogue.js';
import { renderMarkdown, type RenderedPage, type Section } from './markdown.js';
import { fillIn, placeholdersOf } from './placeholders.js';

/**
 * The guides and the pages about libraries (contract §24): Markdown files. They are read when someone wants the first of them, and
 * each is rendered once, so that a start does not wait for them.
 */
@Injectable()
export class Handbook {
  private read?: ReadonlyMap<string, RenderedPage>;
  /** Of one brand, as it was when they were rendered. */
  private rendered = new Map<string, string>();
  private brand?: Brand;

  constructor(
    private readonly settings: Settings,
    private readonly goingLive: GoingLive,
  ) {}

  /** The list of all pages as HTML. */
  index(brand: Brand): string {
    return this.once('', brand, () => handbookIndexPage(this.pages()));
  }

  /** A page as HTML, for everybody or with what it shows its reader; undefined for one that does not exist. */
  page(address: string, brand: Brand, forReader?: ForReader): string | undefined {
    const page = this.pages().get(address);
    if (!page) return undefined;
    const { checks } = this.goingLive;
    if (forReader) return renderPage(handbookPage(address, page, checks, forReader), brand);
    return this.once(address, brand, () => handbookPage(address, page, checks));
  }

  /** The headings of a page with the text below each. */
  sectionsOf(address: string): readonly Section[] {
    return this.pages().get(address)?.sections ?? [];
  }

  private once(key: string, brand: Brand, page: () => LayoutProps): string {
    if (this.brand !== brand) {
      this.rendered = new Map();
      this.brand = brand;
    }
    let html = this.rendered.get(key);
    if (html === undefined) this.rendered.set(key, (html = renderPage(page(), brand)));
    return html;
  }

  private pages(): ReadonlyMap<string, RenderedPage> {
    return (this.read ??= readPages(this.settings));
  }
}

function readPages(settings: Settings): ReadonlyMap<string, RenderedPage> {
  const values = placeholdersOf(settings);
  const addresses = SHELVES.flatMap(({ folder, entries }) => entries.map(({ slug }) => ({ folder, slug })));
  return new Map(
    addresses.map(({ folder, slug }) => {
      const source = readFileSync(besideCode(`entrypoints/api-docs/${folder}/${slug}.md`), 'utf8');
      return [pathOf(folder, slug), renderMarkdown(fillIn(source, values))] as const;
    }),
  );
}
