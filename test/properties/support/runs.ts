import fc from 'fast-check';

const { NIGHTLY, PROPERTY_RUNS } = process.env;

/** The number of runs of a property: `PROPERTY_RUNS` if it is set (for a longer search), otherwise the usual number, ten times as many every night. */
const runsOf = (usual: number): number =>
  PROPERTY_RUNS === undefined ? usual * (NIGHTLY ? 10 : 1) : Number(PROPERTY_RUNS);

/** How much longer than usual a search takes; time limits, which only end a hang, are multiplied by it. */
export const patience = (usual: number): number => Math.max(1, runsOf(usual) / usual);

/** The number of runs; the seed is that of all properties (test/support/jest/plain-runner.mjs). */
export const search = <T>(usual: number, more: fc.Parameters<T> = {}): fc.Parameters<T> => ({
  numRuns: runsOf(usual),
  ...more,
});

/** Checks that the property holds for all generated values. */
export const always = <T extends [unknown, ...unknown[]]>(
  property: fc.IProperty<T>,
  usual = 300,
  more: fc.Parameters<T> = {},
): void => fc.assert(property, search<T>(usual, more));

/** The same for asynchronous properties. */
export const alwaysAsync = <T extends [unknown, ...unknown[]]>(
  property: fc.IAsyncProperty<T>,
  usual = 300,
  more: fc.Parameters<T> = {},
): Promise<void> => fc.assert(property, search<T>(usual, more));
