import fc from 'fast-check';
import {
  planBurst,
  planPastDays,
  planSession,
  type PlannedEvent,
} from '#events/sandbox/generator/plan-session.js';
import { vehicleOf } from '#events/sandbox/generator/vehicle.js';

const START = new Date('2026-03-02T17:00:00Z');
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const numbers = fc.integer({ min: 1, max: 1000 });
const HOUR_MS = 3600_000;

type Data = Record<string, unknown>;
const dataOf = ({ data }: PlannedEvent): Data => data as Data;
/** What is left of an event when it is forgotten when it happened. */
const timeless = ({ type, data }: PlannedEvent): unknown => [
  type,
  Object.entries(data).filter(([name]) => !name.endsWith('_at')),
];
const plan = (seed: number, number: number, speed = 1, start = START) =>
  planSession({ seed, number, start, speed });

describe('A planned session of a driver', () => {
  it('has the same numbers for the same seed and number, whenever it starts and however fast it runs', () => {
    fc.assert(
      fc.property(seeds, numbers, (seed, number) => {
        const real = plan(seed, number);
        const later = plan(seed, number, 60, new Date('2027-01-01T00:00:00Z'));
        expect(later.map(timeless)).toEqual(real.map(timeless));
        expect(plan(seed, number)).toEqual(real);
        const [real1, fast1] = [real, later].map((all) => all.at(-1)!.at.getTime() - all[0]!.at.getTime());
        expect(real1! / fast1!).toBeCloseTo(60, 0);
      }),
    );
  });

  it('differs from other sessions and from those of other seeds', () => {
    const all = [plan(1, 1), plan(1, 2), plan(2, 1), plan(3, 1)].map((events) => JSON.stringify(events));
    expect(new Set(all).size).toBe(4);
    expect(vehicleOf(1)).toEqual(vehicleOf(1));
    expect(vehicleOf(1).id).not.toBe(vehicleOf(2).id);
  });

  it('begins and ends once, charges in modes that begin and end, and never charges less or beyond the limit', () => {
    fc.assert(
      fc.property(seeds, numbers, (seed, number) => {
        const events = plan(seed, number);
        const types = events.map(({ type }) => type);
        expect([types[0], types.at(-1)]).toEqual(['charging_session.created', 'charging_session.ended']);
        const count = (type: string) => types.filter((each) => each === type).length;
        expect([count('charging_session.created'), count('charging_session.ended')]).toEqual([1, 1]);
        const modes = types.filter((type) => type.startsWith('charging_sub_session'));
        expect(modes.length).toBeGreaterThan(0);
        modes.forEach((type, n) =>
          expect(type).toBe(`charging_sub_session.${n % 2 === 0 ? 'created' : 'ended'}`),
        );
        expect(count('vehicle.updated')).toBeGreaterThan(1);
        const times = events.map(({ at }) => at.getTime());
        expect(times).toEqual([...times].sort((a, b) => a - b));
        const energies = events
          .filter(({ type }) => type.startsWith('charging_session'))
          .map((event) => dataOf(event)['energy_kwh'] as number);
        expect(energies).toEqual([...energies].sort((a, b) => a - b));
        const ofModes = events
          .filter(({ type }) => type === 'charging_sub_session.ended')
          .map((event) => dataOf(event)['energy_kwh'] as number);
        expect(ofModes.reduce((sum, each) => sum + each, 0)).toBeCloseTo(energies.at(-1)!, 6);
        for (const event of events.filter(({ type }) => type === 'vehicle.updated')) {
          const { state_of_charge_percent: charge, charge_limit_percent: limit } = dataOf(event);
          expect(charge).toBeLessThanOrEqual(limit as number);
        }
        expect(new Set(events.map((event) => dataOf(event)['vehicle_id']).filter(Boolean))).toEqual(
          new Set([vehicleOf(seed).id]),
        );
        expect(times.at(-1)! - times[0]!).toBeLessThan(14 * HOUR_MS);
      }),
    );
  });
});

describe('Past days and bursts', () => {
  it('are one session a day, all over by now, and the sessions that would come next', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 30 }), (seed, days) => {
        const events = planPastDays({ seed, number: 4 }, days, START);
        expect(events.filter(({ type }) => type === 'charging_session.created')).toHaveLength(days);
        expect(Math.max(...events.map(({ at }) => at.getTime()))).toBeLessThanOrEqual(START.getTime());
        expect(Math.min(...events.map(({ at }) => at.getTime()))).toBeGreaterThanOrEqual(
          START.getTime() - days * 24 * HOUR_MS,
        );
        const first = plan(seed, 4);
        expect(events.slice(0, first.length).map(timeless)).toEqual(first.map(timeless));
        // A driver fits into the limit of waiting events.
        expect(events.length).toBeLessThanOrEqual(2_000);
      }),
      { numRuns: 30 },
    );
  });

  it('are as many events of one moment as were asked for', () => {
    const events = planBurst({ seed: 7, number: 1 }, 500, START);
    expect(events).toHaveLength(500);
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set(['vehicle.updated', 'charging_session.updated']),
    );
    expect(planBurst({ seed: 7, number: 1 }, 500, START)).toEqual(events);
  });
});
