import type { ConsentVersionEntity } from './consent-version.entity.js';

/** A version of a consent with the text of the words that were shown. */
export interface VersionWithWords {
  version: ConsentVersionEntity;
  words: string | null;
}
