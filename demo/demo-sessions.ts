import { DAY_MS, HOUR_MS } from '#platform/config/durations.js';
import { planSession, type PlannedEvent } from '#events/sandbox/generator/plan-session.js';
import { SeededRandom } from '#events/sandbox/generator/seeded-random.js';

/** How likely a driver plugs in on a day. */
const PLUGS_IN = 0.6;
/** In the list of a week, every report of a running session would drown the rest. */
const REPORTS_KEPT = 3;
/** Hours (UTC) in which people plug in: after work, and at the weekend from the morning on. */
const AFTER_WORK = [15.5, 20.5] as const;
const AT_THE_WEEKEND = [8.5, 19.5] as const;

export type SessionEvent = PlannedEvent & { userId: string };

/** The charging sessions of these drivers since a time, each with a vehicle of its own, in the order in which it happened. */
export function sessionsOf(drivers: readonly string[], since: Date, now: Date): SessionEvent[] {
  const days = Math.ceil((now.getTime() - since.getTime()) / DAY_MS) + 1;
  const firstDay = Math.floor(since.getTime() / DAY_MS) * DAY_MS;
  return drivers
    .flatMap((userId, index) =>
      Array.from({ length: days }, (_day, day) => {
        const seed = index + 1;
        const random = new SeededRandom(seed, `demonstration, day ${day}`);
        // Someone is always active, so that no week is empty.
        if (index > 0 && random.next() > PLUGS_IN) return [];
        const midnight = firstDay + day * DAY_MS;
        const [from, to] = [0, 6].includes(new Date(midnight).getUTCDay()) ? AT_THE_WEEKEND : AFTER_WORK;
        const start = new Date(midnight + (from + (to - from) * random.next()) * HOUR_MS);
        return fewerReports(planSession({ seed, number: day + 1, start, speed: 1 })).map((event) => ({
          ...event,
          userId,
        }));
      }).flat(),
    )
    .filter(({ at }) => at > since && at < now)
    .sort((one, other) => one.at.getTime() - other.at.getTime());
}

/** Without most of what is reported while a session runs. */
const fewerReports = (events: PlannedEvent[]): PlannedEvent[] =>
  events.filter(
    ({ type }, n) => !type.endsWith('.updated') || n % REPORTS_KEPT === 0 || n > events.length - 3,
  );
