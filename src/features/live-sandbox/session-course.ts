import type { EventContent } from '#events/webhooks/events/event.js';

/** The events from which a course is made. */
export const COURSE_TYPES = [
  'charging_session.created',
  'charging_session.updated',
  'charging_session.ended',
  'charging_sub_session.ended',
  'vehicle.updated',
] as const;
/** More than the events of one session. */
export const COURSE_EVENTS = 120;

/** A driver's last session so far, and the state of the vehicle. */
export interface SessionCourse {
  session?: {
    startedAt: Date;
    /** Undefined while it runs. */
    endedAt: Date | undefined;
    energyKwh: number;
    /** From this time on, this power. */
    power: { at: Date; kw: number }[];
  };
  battery?: { percent: number; limit: number };
}

/** An event whose data may be anything: clients of the sandbox may publish other events than the generator does. */
interface Told {
  type: string;
  at: Date | undefined;
  data: Readonly<Record<string, unknown>>;
}

/** Reads the course from events, the newest first. A sub-session that has ended leaves no power until the next one reports. */
export function courseOf(events: readonly EventContent[]): SessionCourse {
  const told = events.map(({ type, timestamp, data }): Told => ({
    type,
    at: dateIn(timestamp),
    data: { ...data },
  }));
  const vehicle = told.find(({ type }) => type === 'vehicle.updated')?.data;
  const [percent, limit] = [
    numberIn(vehicle?.state_of_charge_percent),
    numberIn(vehicle?.charge_limit_percent),
  ];
  return {
    battery: percent === undefined ? undefined : { percent: share(percent), limit: share(limit ?? 100) },
    session: sessionIn(told),
  };
}

function sessionIn(told: readonly Told[]): SessionCourse['session'] {
  const newest = told.find(({ type }) => type.startsWith('charging_session.'));
  const startedAt = dateIn(newest?.data.plugged_in_at) ?? newest?.at;
  if (!newest || !startedAt) return undefined;
  const own = told
    .filter(({ data }) => [data.id, data.charging_session_id].includes(newest.data.id))
    .toReversed();
  return {
    startedAt,
    endedAt: own.find(({ type }) => type === 'charging_session.ended')?.at,
    energyKwh: numberIn(newest.data.energy_kwh) ?? 0,
    power: own.flatMap(({ at, data }) => (at ? [{ at, kw: Math.max(0, numberIn(data.power_kw) ?? 0) }] : [])),
  };
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const share = (percent: number): number => Math.min(100, Math.max(0, percent));

function dateIn(value: unknown): Date | undefined {
  const date = new Date(typeof value === 'string' ? value : NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
