import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import MiniSearch from 'minisearch';
import { upTo } from '#platform/config/cache-capacity.js';
import { ApiDocs } from '../api-docs.service.js';
import { type OpenApiDocument, operationAnchor, webhookAnchor } from '../openapi.js';
import { pathOf, SHELVES } from './catalogue.js';
import { Handbook } from './handbook.service.js';

type FoundKind = 'Guide' | 'Library' | 'Reference' | 'Error' | 'Event type';

/** A part of the documentation. */
export interface Found {
  kind: FoundKind;
  address: string;
  title: string;
  /** The page that it is a part of. */
  page?: string;
  text: string;
}

interface Entry extends Found {
  id: number;
}

const FOUND_AT_MOST = 30;
/** No query needs more, and each word costs time. */
const WORDS_AT_MOST = 8;
/** The index has `rate-limit-exceeded` as three terms: a word with punctuation in it costs as much as several. */
const TERMS_AT_MOST = 16;
/** Longer than any term of the index. Comparing a term with those takes memory by the square of its length. */
const TERM_MAX = 100;
/** Mistakes are looked for in words of this length: in shorter ones they mean another word, in longer ones looking takes too long. */
const [FUZZY_FROM, FUZZY_TO] = [5, 12];
/** Answers that are remembered. */
const REMEMBERED = 500;
const ERRORS = pathOf('guides', 'errors');

/**
 * One search over guides, pages about libraries, the reference, errors and event types (contract §24). The index is made when someone
 * searches first, and again when operators have changed the event types.
 */
@Injectable()
export class DocsSearch {
  private of?: OpenApiDocument;
  private index?: MiniSearch<Entry>;
  private entries: Entry[] = [];
  private titles = new Set<string>();
  private readonly remembered = new LRUCache<string, Found[]>(upTo(REMEMBERED));

  constructor(
    private readonly handbook: Handbook,
    private readonly docs: ApiDocs,
  ) {}

  /** The parts in which every word of the query occurs, as it is, as the beginning of a word, or with a mistake; what is called so first, then the best. */
  async find(query: string): Promise<Found[]> {
    const document = await this.docs.forPartners();
    if (this.index === undefined || this.of !== document) this.read(document);
    const terms = termsOf(query).join(' ');
    if (terms.split(' ').some(({ length }) => length > TERM_MAX)) return [];
    const name = query.toLowerCase();
    const key = this.titles.has(name) ? `${terms}\n${name}` : terms;
    const known = this.remembered.get(key);
    if (known) return known;
    const isNamed = ({ title }: Found): number => Number(title.toLowerCase() === name);
    const found = this.index!.search(terms)
      .map(({ id }) => this.entries[id as number]!)
      .sort((one, other) => isNamed(other) - isNamed(one))
      .slice(0, FOUND_AT_MOST);
    this.remembered.set(key, found);
    return found;
  }

  private read(document: OpenApiDocument): void {
    this.of = document;
    this.entries = [...this.pages(), ...operations(document), ...eventTypes(document)].map((each, id) => ({
      ...each,
      id,
    }));
    this.titles = new Set(this.entries.map(({ title }) => title.toLowerCase()));
    this.remembered.clear();
    this.index = new MiniSearch<Entry>({
      fields: ['title', 'page', 'text'],
      searchOptions: {
        combineWith: 'AND',
        prefix: (term) => term.length > 2,
        fuzzy: ({ length }) => (length >= FUZZY_FROM && length <= FUZZY_TO ? 0.2 : false),
        boost: { title: 4, page: 2 },
      },
    });
    this.index.addAll(this.entries);
  }

  private pages(): Found[] {
    return SHELVES.flatMap(({ folder, entries }) =>
      entries.flatMap(({ slug, label }) => {
        const address = pathOf(folder, slug);
        return this.handbook.sectionsOf(address).map(({ level, heading, anchor, text }): Found => {
          const kind = folder === 'libraries' ? 'Library' : 'Guide';
          if (anchor === undefined) return { kind, address, title: heading, text };
          const part = { address: `${address}#${anchor}`, title: heading, text };
          return address === ERRORS && level === 3
            ? { kind: 'Error', ...part }
            : { kind, ...part, page: label };
        });
      }),
    );
  }
}

/** What the index looks up for a query: each word once. */
function termsOf(query: string): string[] {
  const words = once(query.toLowerCase().split(/\s+/)).slice(0, WORDS_AT_MOST).join(' ');
  const tokenize = MiniSearch.getDefault('tokenize') as (text: string) => string[];
  return once(tokenize(words))
    .filter((term) => term !== '')
    .slice(0, TERMS_AT_MOST);
}

const once = (words: string[]): string[] => [...new Set(words)];

const operations = ({ paths }: OpenApiDocument): Found[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      kind: 'Reference' as const,
      address: `/docs${operationAnchor(operation.tags[0]!, method, path)}`,
      title: `${method.toUpperCase()} ${path}`,
      text: [operation.summary, operation.description].filter(Boolean).join('. '),
    })),
  );

const eventTypes = ({ webhooks }: OpenApiDocument): Found[] =>
  Object.entries(webhooks).map(([type, { post }]) => ({
    kind: 'Event type' as const,
    address: `/docs${webhookAnchor(type)}`,
    title: type,
    text: post?.description ?? '',
  }));
