// What a setting's name may be missing at its end.
const UNITS = ['_SECONDS', '_DAYS', '_PER_HOUR', '_PER_MINUTE'];
/** Shorter names are too close to those of other programs. */
const SHORTEST = 8;
const LONG = 12;

/**
 * One line for each variable of the environment that is probably a misspelt setting. Our names have no prefix, and the platform has
 * variables of its own, so only what is very close to the name of a setting that is not given counts.
 */
export function misspeltSettings(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const known = new Set(settings.flatMap((name) => [name, `${name}_FILE`]));
  const missing = [...known].filter((name) => name.length >= SHORTEST && environment[name] === undefined);
  return Object.keys(environment)
    .filter((name) => !known.has(name) && !name.startsWith('OTEL_'))
    .flatMap((name) => {
      const meant = missing.find((setting) => isCloseTo(setting, name.toUpperCase()));
      return meant === undefined
        ? []
        : [`${name} is not a setting and is ignored; ${meant} was probably meant`];
    });
}

const isCloseTo = (setting: string, name: string): boolean =>
  UNITS.some((unit) => name + unit === setting) ||
  (Math.abs(setting.length - name.length) <= 2 &&
    distance(setting, name) <= (setting.length >= LONG ? 2 : 1));

/** How many letters are missing, added, wrong or swapped with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwapped ? beforeLast[j - 2]! + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}
