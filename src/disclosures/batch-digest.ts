import { createHash } from 'node:crypto';
import type { Disclosure } from './disclosure.js';

/** By which a batch is known again: the same parts in the same order. */
export const digestOf = (disclosures: readonly Disclosure[]): Buffer =>
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
