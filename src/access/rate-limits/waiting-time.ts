/** The waiting time for people, from a minute on in minutes, rounded up; `Retry-After` has the seconds for programs. */
export function waitingTime(seconds: number): string {
  const [count, unit] = seconds < 60 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** The waiting time as values of a message, for `{count, plural, …}` in either unit. */
export function waitingValues(seconds: number): { unit: 'second' | 'minute'; count: number } {
  return seconds < 60
    ? { unit: 'second', count: seconds }
    : { unit: 'minute', count: Math.ceil(seconds / 60) };
}
