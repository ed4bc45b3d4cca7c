import { createHash } from 'node:crypto';
import type { Language } from '#platform/language/languages.js';
import type { ScopeMeaning } from '#access/scopes/scopes.service.js';

/** One kind of data on a consent page: what the scope lets the application read, in plain words. */
export interface AccessWords {
  scope: string;
  words: string;
  /** Whether the user may leave it out. */
  optional: boolean;
  /** When the meaning last changed; not shown, and not kept. */
  meaningChangedAt: Date | null;
}

/** Everything that a consent page says about the consent, in the order of the page. */
export interface ConsentWords {
  language: Language;
  /** The name of the application, as in the heading. */
  application: string;
  /** Who runs it; null if that is not known. */
  organisation: string | null;
  heading: string;
  access: AccessWords[];
  /** What the application wants the data for. */
  purposes: string[];
  /** How long the consent lasts, where the browser goes next, and how to withdraw the consent. */
  notes: string[];
}

/** The words of a page in their stored form, and their SHA-256 digest. */
export interface KeptWords {
  digest: Buffer;
  language: string;
  text: string;
}

/** The same words always have the same text, so they are kept once. */
export function keptWords({
  language,
  application,
  organisation,
  heading,
  access,
  purposes,
  notes,
}: ConsentWords): KeptWords {
  const text = JSON.stringify({
    language,
    application,
    organisation,
    heading,
    access: access.map(({ scope, words, optional }) => ({ scope, words, optional })),
    purposes,
    notes,
  });
  return { digest: createHash('sha256').update(text).digest(), language, text };
}

/** What the scopes meant when the words were made. */
export const meaningsOf = ({ access }: ConsentWords): ScopeMeaning[] =>
  access.map(({ scope, meaningChangedAt }) => ({ name: scope, meaningChangedAt }));
