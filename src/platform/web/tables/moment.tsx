import type { VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { datesBy, zoneNameAt } from '#platform/language/formats.js';
import { HOUR_MS } from '#platform/config/durations.js';
import { UTC } from '#platform/language/time-zones.js';
import { LanguageContext, TimeZoneContext } from '../layout/say.js';

/** Notes the reader's time zone, and shows recent times as the time since; on pages with times, and where people log in, so that the first page after it knows. */
export const TIMES_SCRIPT = '/assets/times.js';

const FORMATS = {
  inWords: datesBy({ dateStyle: 'long', timeStyle: 'short' }),
  shortly: datesBy({ dateStyle: 'medium', timeStyle: 'short' }),
  exactly: datesBy({ dateStyle: 'medium', timeStyle: 'medium' }),
};

/** A point in time, in the time zone of the reader if it is known, labelled with it; the pointer finds it in UTC. */
function Time({ at, as, isRecent }: { at: Date; as: keyof typeof FORMATS; isRecent?: boolean }): VNode {
  const language = useContext(LanguageContext);
  const zone = useContext(TimeZoneContext);
  const inZone = (format: (typeof FORMATS)[typeof as]): string =>
    zone === UTC ? utcOf(format) : `${format(language, at, zone)} ${zoneNameAt(language, at, zone)}`;
  const utcOf = (format: (typeof FORMATS)[typeof as]): string => `${format(language, at)} ${UTC}`;
  const utc = utcOf(isRecent ? FORMATS.exactly : FORMATS[as]);
  const local = isRecent ? inZone(FORMATS.exactly) : undefined;
  return (
    <time
      dateTime={at.toISOString()}
      title={[local, zone === UTC ? undefined : utc].filter(Boolean).join(' · ') || undefined}
      data-utc={utc}
      data-since={isRecent ? '' : undefined}
    >
      {inZone(FORMATS[as])}
    </time>
  );
}

/** A point in time in words. */
export const Moment = ({ at }: { at: Date }): VNode => <Time at={at} as="inWords" />;

/** The same in less room, for tables. */
export const ShortMoment = ({ at }: { at: Date }): VNode => <Time at={at} as="shortly" />;

/** The same with seconds, for frequent events. */
export const ExactMoment = ({ at }: { at: Date }): VNode => <Time at={at} as="exactly" />;

/**
 * For lists that say how things are: where scripts run, “3 minutes ago”, with the exact time under the pointer. What is compared with
 * other records, and what is a record itself, has the exact time.
 */
export const RecentMoment = ({ at }: { at: Date }): VNode => <Time at={at} as="shortly" isRecent />;

const dayIn = datesBy({ dateStyle: 'long' });

/** A day in UTC, from `YYYY-MM-DD`. */
export function Day({ day }: { day: string }): VNode {
  const language = useContext(LanguageContext);
  return <time dateTime={day}>{dayIn(language, new Date(day))}</time>;
}

const mediumDayIn = datesBy({ dateStyle: 'medium' });
const hourIn = datesBy({ timeStyle: 'short' });

/** A time of which only the hour is known, on pages in English: the hour, because its beginning may be before what it is compared with. */
export function Hour({ at }: { at: Date }): VNode {
  const zone = useContext(TimeZoneContext);
  const [day, today] = [at, new Date()].map((each) => mediumDayIn('en', each, zone));
  const [from, to] = [at, new Date(at.getTime() + HOUR_MS)].map((each) => hourIn('en', each, zone));
  return (
    <time dateTime={at.toISOString()}>
      {day === today ? 'today' : day}, between {from} and {to}{' '}
      {zone === UTC ? UTC : zoneNameAt('en', at, zone)}
    </time>
  );
}
