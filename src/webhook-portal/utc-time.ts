const FORM = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.\d{1,9})?)?Z?$/;
// Ids hold times from 1970 on.
const FIRST = Date.UTC(1970, 0, 1);

/** What a `datetime-local` field sends, with or without seconds, taken as UTC; undefined for anything that is no such time. */
export function parseUtcTime(text: string): Date | undefined {
  const [, day, minute, second = '00'] = FORM.exec(text.trim()) ?? [];
  if (day === undefined) return undefined;
  const written = `${day}T${minute}:${second}.000Z`;
  const time = new Date(written);
  // The 30th of February is read as the 1st of March: it is no time.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== written || time.getTime() < FIRST)
    return undefined;
  return time;
}

/** A time as a `datetime-local` field holds it, to the second. */
export const utcFieldValue = (time: Date): string => time.toISOString().slice(0, 19);
