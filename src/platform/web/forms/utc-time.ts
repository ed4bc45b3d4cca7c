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

const NO_TIME = 'Enter a date and a time, such as 2026-01-31T08:00.';

/** What two fields for times mean, of which the second must be later, and their errors. Without `isNeeded`, each may be empty. */
export function readUtcRange(typed: { from: string; to: string }, isNeeded = false) {
  const [from, to] = [parseUtcTime(typed.from), parseUtcTime(typed.to)];
  const isWrong = (text: string, time?: Date) => time === undefined && (isNeeded || text.trim() !== '');
  const errors: { from?: string; to?: string } = {
    ...(isWrong(typed.from, from) ? { from: NO_TIME } : {}),
    ...(isWrong(typed.to, to) ? { to: NO_TIME } : {}),
    ...(from && to && from >= to ? { to: 'This must be later than “From”.' } : {}),
  };
  return { from, to, errors };
}

/** A time as the value of a `datetime-local` field, to the second. */
export const utcFieldValue = (time: Date): string => time.toISOString().slice(0, 19);

/** The point in time of a valid date (its start), or date and time: in UTC if it names no zone, wherever the service runs. */
export const timeInUtc = (text: string): Date => new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text);

/**
 * The attributes of a field for a time in UTC, or for a day. A value that such a field would drop, such as an invalid one or a time
 * in the field of a day, is kept in a text field.
 */
export function timeAttributes(
  type: 'datetime-local' | 'date',
  value: string,
): { type: string; value: string } {
  const text = value.trim();
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text);
  const time = parseUtcTime(isDay ? `${text}T00:00` : text);
  if (text === '' || (type === 'date' && isDay && time)) return { type, value: text };
  if (type === 'date' || !time) return { type: 'text', value };
  return { type, value: isDay || text.endsWith('Z') ? utcFieldValue(time) : text.replace(' ', 'T') };
}
