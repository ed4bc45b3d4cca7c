import { createHash } from 'node:crypto';
import type { Disclosure } from './disclosure.js';

/** Identifies a repeated batch: the same parts in the same order. */
export const batchDigestOf = (disclosures: readonly Disclosure[]): Buffer =>
  createHash('sha256')
    .update(
      JSON.stringify(
        disclosures.map(({ clientId, userId, scope, requests, day }) => [
          clientId,
          userId,
          scope,
          requests,
          day,
        ]),
      ),
    )
    .digest();
