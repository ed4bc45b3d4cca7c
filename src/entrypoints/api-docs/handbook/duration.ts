const UNITS: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** A setting in seconds as people say it: in the largest unit that divides it, so that nothing is rounded. */
export function duration(seconds: number): string {
  const [size, name] = UNITS.find(([each]) => seconds % each === 0 && seconds >= each) ?? [1, 'second'];
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
