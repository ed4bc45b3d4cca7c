import { Injectable, type OnModuleInit } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Settings } from '../../config/settings.js';
import { renderPage } from '../../web/layout/layout.js';
import { handbookIndexPage, handbookPage } from '../pages/handbook.page.js';
import { pathOf, SHELVES, type Folder } from './catalogue.js';
import { renderMarkdown, type RenderedPage } from './markdown.js';
import { fillIn, placeholdersOf } from './placeholders.js';

const ROOT = path.join(import.meta.dirname, '..');

/**
 * The guides and the pages about libraries (contract §24): Markdown files, rendered once when the application starts. That adds 0.2 s of
 * processor time to the start.
 */
@Injectable()
export class Handbook implements OnModuleInit {
  private readonly pages = new Map<string, string>();
  index!: string;

  constructor(private readonly settings: Settings) {}

  onModuleInit(): void {
    const values = placeholdersOf(this.settings);
    const rendered = new Map<string, RenderedPage>();
    for (const { folder, entries } of SHELVES)
      for (const { slug } of entries) {
        const source = readFileSync(path.join(ROOT, folder, `${slug}.md`), 'utf8');
        rendered.set(pathOf(folder, slug), renderMarkdown(fillIn(source, values)));
      }
    for (const [address, page] of rendered) this.pages.set(address, renderPage(handbookPage(address, page)));
    this.index = renderPage(handbookIndexPage(rendered));
  }

  /** A page as HTML; undefined for one that does not exist. */
  page(folder: Folder, slug: string): string | undefined {
    return this.pages.get(pathOf(folder, slug));
  }
}
