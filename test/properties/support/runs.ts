import fc from 'fast-check';

const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;

/** Of each property: `PROPERTY_RUNS` where it is set, for a longer search, else so many. */
const runsOf = (usual: number): number =>
  PROPERTY_RUNS === undefined ? usual : Number(PROPERTY_RUNS);

/** How much longer than usual a search takes, for time limits. */
export const patience = (usual: number): number => Math.max(1, runsOf(usual) / usual);

/** Runs, and the seed of `PROPERTY_SEED`: a failure prints the seed that shows it again. */
export const search = <T>(usual: number, more: fc.Parameters<T> = {}): fc.Parameters<T> => ({
  numRuns: runsOf(usual),
  ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
  ...more,
});

/** Checks that the property holds for whatever is drawn. */
export const always = <T extends [unknown, ...unknown[]]>(
  property: fc.IProperty<T>,
  usual = 300,
  more: fc.Parameters<T> = {},
): void => fc.assert(property, search<T>(usual, more));

/** The same for what answers later. */
export const alwaysAsync = <T extends [unknown, ...unknown[]]>(
  property: fc.IAsyncProperty<T>,
  usual = 300,
  more: fc.Parameters<T> = {},
): Promise<void> => fc.assert(property, search<T>(usual, more));
