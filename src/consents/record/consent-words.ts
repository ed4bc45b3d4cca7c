import { createHash } from 'node:crypto';
import type { Language } from '../../language/languages.js';

/** One kind of data on a consent page: what the scope lets the application read, in plain words. */
export interface AccessWords {
  scope: string;
  words: string;
  /** Whether the user may leave it out. */
  optional: boolean;
}

/** Everything that a consent page says about what is agreed to, in the order in which it says it. */
export interface ConsentWords {
  language: Language;
  /** The name of the application, as it stands in the heading. */
  application: string;
  /** Who runs it; null if that is not known. */
  organisation: string | null;
  heading: string;
  access: AccessWords[];
  /** For how long, where the browser goes, and how to take it back. */
  notes: string[];
}

/** The words of a page as they are kept, and their SHA-256 digest. */
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
  notes,
}: ConsentWords): KeptWords {
  const text = JSON.stringify({
    language,
    application,
    organisation,
    heading,
    access: access.map(({ scope, words, optional }) => ({ scope, words, optional })),
    notes,
  });
  return { digest: createHash('sha256').update(text).digest(), language, text };
}
