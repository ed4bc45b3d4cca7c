import { SeededRandom } from './seeded-random.js';
import { vehicleOf } from './vehicle.js';

/** An event that is to be published at its time. */
export interface PlannedEvent {
  at: Date;
  type: string;
  data: object;
}

export interface SessionToPlan {
  seed: number;
  /** Which session of the driver it is: its numbers follow from the seed and this. */
  number: number;
  start: Date;
  /** How many times faster than real time it runs. */
  speed: number;
}

const MINUTE = 60;
// Between two reports of a running charging mode.
const STEP_SECONDS = 20 * MINUTE;
const MODES = ['smart', 'immediate', 'solar'] as const;
const POWERS_KW = [3.7, 7.4, 11] as const;

/**
 * A charging session: plugged in, one to three charging modes with reports of session and vehicle between them, unplugged. Pure:
 * the same seed and number give the same numbers, whenever it starts and however fast it runs.
 */
export function planSession({ seed, number, start, speed }: SessionToPlan): PlannedEvent[] {
  const random = new SeededRandom(seed, `session ${number}`);
  const vehicle = vehicleOf(seed);
  const id = random.uuid();
  const limit = random.oneOf([80, 90, 100]);
  const firstCharge = random.whole(15, 55);
  const events: PlannedEvent[] = [];
  let second = 0;
  let energy = 0;

  const now = () => new Date(start.getTime() + Math.round((second * 1000) / speed));
  const time = () => now().toISOString();
  const tell = (type: string, data: object) => events.push({ at: now(), type, data });
  const pluggedInAt = time();
  const session = (state: string, more: object = {}) => ({
    id,
    vehicle_id: vehicle.id,
    plugged_in_at: pluggedInAt,
    state,
    energy_kwh: rounded(energy),
    ...more,
  });
  const charge = () => Math.min(limit, firstCharge + (100 * energy) / vehicle.batteryKwh);
  const tellVehicle = (pluggedIn: boolean) =>
    tell('vehicle.updated', {
      id: vehicle.id,
      state_of_charge_percent: Math.floor(charge()),
      charge_limit_percent: limit,
      plugged_in: pluggedIn,
      reachable: true,
    });

  tell('charging_session.created', session('plugged_in'));
  const modes = random.whole(1, 3);
  for (let n = 0; n < modes; n++) {
    second += random.whole(2, 30) * MINUTE;
    const [sub, mode, startedAt] = [random.uuid(), random.oneOf(MODES), time()];
    const power = random.oneOf(POWERS_KW);
    const before = energy;
    const about = { id: sub, charging_session_id: id, mode, started_at: startedAt };
    tell('charging_sub_session.created', about);
    for (let steps = random.whole(3, 8); steps > 0; steps--) {
      second += STEP_SECONDS;
      const room = ((limit - firstCharge) * vehicle.batteryKwh) / 100 - energy;
      energy += Math.max(0, Math.min(room, (power * STEP_SECONDS * (0.9 + 0.1 * random.next())) / 3600));
      tell('charging_session.updated', session('charging', { power_kw: room > 0 ? power : 0 }));
      second += MINUTE;
      tellVehicle(true);
    }
    second += MINUTE;
    // The energies of the modes add up to that of the session.
    const used = rounded(rounded(energy) - rounded(before));
    tell('charging_sub_session.ended', { ...about, ended_at: time(), energy_kwh: used });
  }
  second += random.whole(5, 60) * MINUTE;
  tellVehicle(false);
  second += MINUTE;
  tell('charging_session.ended', session('ended', { unplugged_at: time() }));
  return events;
}

/** The sessions of past days, one a day, the oldest first; the last one ends before `now`. */
export function planPastDays(
  { seed, number }: Pick<SessionToPlan, 'seed' | 'number'>,
  days: number,
  now: Date,
): PlannedEvent[] {
  return Array.from({ length: days }, (_day, n) => {
    const later = new SeededRandom(seed, `day of session ${number + n}`).whole(0, 10 * 60) * MINUTE;
    const start = new Date(now.getTime() - (days - n) * 24 * 3600_000 + later * 1000);
    return planSession({ seed, number: number + n, start, speed: 1 });
  }).flat();
}

/** Many events of one moment, of the vehicle and of a session in turn. */
export function planBurst(
  { seed, number }: Pick<SessionToPlan, 'seed' | 'number'>,
  count: number,
  now: Date,
): PlannedEvent[] {
  const random = new SeededRandom(seed, `burst ${number}`);
  const vehicle = vehicleOf(seed);
  const id = random.uuid();
  return Array.from({ length: count }, (_each, n) =>
    n % 2 === 0
      ? {
          at: now,
          type: 'vehicle.updated',
          data: {
            id: vehicle.id,
            state_of_charge_percent: random.whole(10, 100),
            charge_limit_percent: 100,
            plugged_in: true,
            reachable: true,
          },
        }
      : {
          at: now,
          type: 'charging_session.updated',
          data: {
            id,
            vehicle_id: vehicle.id,
            plugged_in_at: now.toISOString(),
            state: 'charging',
            energy_kwh: rounded(n / 10),
            power_kw: random.oneOf(POWERS_KW),
          },
        },
  );
}

const rounded = (number: number): number => Math.round(number * 10) / 10;
