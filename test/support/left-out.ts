/**
 * A `describe` for cases that need something not every machine has. If something is `lacking`, the cases are skipped and counted so, and the
 * report of the run ends with what is missing (jest/reporter.mjs reads it from the title); with `CI=true` they fail, unless they are
 * `optional` even there.
 */
export function describeUnless(
  lacking: string | undefined,
  name: string,
  cases: () => void,
  { optional = false } = {},
): void {
  if (!lacking) return describe(name, cases);
  const title = `${name} [left out: ${lacking}]`;
  if (process.env.CI !== 'true' || optional) return describe.skip(title, cases);
  describe(title, () => {
    it('runs at least in continuous integration', () => {
      throw new Error(title);
    });
  });
}
