/**
 * A `describe` for cases that need something not every machine has. If something is `lacking`, the cases are reported as left
 * out, on stdout and in the results; with `CI=true` they fail, unless they are `optional` even there.
 */
export function describeUnless(
  lacking: string | undefined,
  name: string,
  cases: () => void,
  { optional = false } = {},
): void {
  if (!lacking) return describe(name, cases);
  const leftOut = `LEFT OUT: ${name}: ${lacking}`;
  process.stdout.write(`${leftOut}\n`);
  describe(leftOut, () => {
    it('runs at least in continuous integration', () => {
      if (process.env.CI === 'true' && !optional) throw new Error(leftOut);
    });
  });
}
