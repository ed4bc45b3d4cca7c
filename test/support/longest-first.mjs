import TestSequencer from '@jest/test-sequencer';
import { createHash } from 'node:crypto';
import path from 'node:path';

/** Folders and files in the order in which they start: those that take longest first, so that no worker is left alone with one. */
const ORDER = [
  'test/properties/endpoints',
  'test/medium/bench',
  'test/browser/accessibility-',
  'test/properties/consent-histories.long',
  'test/medium/list-plans.long',
  'test/medium/delivery-claim-plan.long',
  'test/e2e/guide-programs.long',
  'test/faults/',
  'test/browser/',
  'test/medium/',
  'test/properties/',
  'packages/',
  'test/e2e/',
  'test/unit/',
];

const placeOf = (file) => {
  const place = ORDER.findIndex((start) => file.startsWith(start));
  return place === -1 ? ORDER.length : place;
};

/** Another order for each `ORDER_SEED`, as the nightly run has it: a file must not depend on the ones before it. */
const shuffled = (tests, seed) => {
  const keyOf = ({ path: file }) =>
    createHash('sha256')
      .update(`${seed} ${path.basename(file)}`)
      .digest('hex');
  return tests
    .map((test) => [keyOf(test), test])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, test]) => test);
};

const isUnit = ({ context }) => context.config.displayName?.name === 'unit';

/**
 * A fresh checkout knows no durations; the larger file of a folder then comes first, as jest does it. Unit tests come last: before one
 * of them a worker ends the services that its files share.
 */
export default class LongestFirst extends TestSequencer {
  sort(tests) {
    const seed = process.env.ORDER_SEED;
    if (seed !== undefined) return shuffled(tests, seed);
    const sorted = super.sort(tests);
    const isKnown = sorted.some(({ duration }) => duration !== undefined);
    if (isKnown) return sorted.toSorted((a, b) => isUnit(a) - isUnit(b));
    const placed = sorted.map((test) => ({
      test,
      place: placeOf(
        path.relative(path.join(test.context.config.rootDir, 'dist'), test.path).replaceAll('\\', '/'),
      ),
    }));
    return placed.toSorted((a, b) => a.place - b.place).map(({ test }) => test);
  }
}
