const FORM = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d{1,9})?)?Z?$/;
// Ids contain times from 1970 on.
const FIRST = Date.UTC(1970, 0, 1);

/** Parses the value of a `datetime-local` field, with or without seconds, as UTC; undefined if it is not a valid time. */
export function parseUtcTime(text: string): Date | undefined {
  const [, day, minute, second = '00'] = FORM.exec(text.trim()) ?? [];
  if (day === undefined) return undefined;
  const written = `${day}T${minute}:${second}.000Z`;
  const time = new Date(written);
  // Invalid dates are shifted, for example 30 February to 1 March, and so differ from the text.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== written || time.getTime() < FIRST)
    return undefined;
  return time;
}

/** A time as the value of a `datetime-local` field, to the second. */
export const utcFieldValue = (time: Date): string => time.toISOString().slice(0, 19);
