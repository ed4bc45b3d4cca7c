import fc from 'fast-check';
import { planSession, type PlannedEvent } from '#events/sandbox/generator/plan-session.js';
import { courseOf } from '#features/live-sandbox/session-course.js';

const START = new Date('2026-03-02T17:00:00Z');
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const numbers = fc.integer({ min: 1, max: 1000 });
const HOUR_MS = 3600_000;

type Data = Record<string, unknown>;
const dataOf = ({ data }: PlannedEvent): Data => data as Data;
const plan = (seed: number, number: number, speed = 1, start = START) =>
  planSession({ seed, number, start, speed });

describe('The course that the portal reads from the events of a driver', () => {
  const told = (events: readonly PlannedEvent[]) =>
    events
      .map(({ at, type, data }) => ({ type, timestamp: at.toISOString(), userId: 'user1', data }))
      .toReversed();

  it('follows the last session up to any of its events, and no other', () => {
    fc.assert(
      fc.property(seeds, numbers, fc.nat(), (seed, number, cut) => {
        const before = plan(seed, number, 60, new Date(START.getTime() - 24 * HOUR_MS));
        const whole = plan(seed, number + 1);
        const events = whole.slice(0, 1 + (cut % whole.length));
        const { session, battery } = courseOf(told([...before, ...events]));
        const sessions = events.filter(({ type }) => type.startsWith('charging_session.'));
        expect(session).toMatchObject({
          startedAt: START,
          energyKwh: dataOf(sessions.at(-1)!).energy_kwh,
          endedAt: events.length === whole.length ? whole.at(-1)!.at : undefined,
        });
        const powers = events.filter(({ type }) => type === 'charging_session.updated');
        expect(session!.power.filter(({ kw }) => kw > 0).map(({ kw }) => kw)).toEqual(
          powers.map((event) => dataOf(event).power_kw).filter((kw) => kw !== 0),
        );
        expect(battery!.percent).toBe(
          dataOf([...before, ...events].findLast(({ type }) => type === 'vehicle.updated')!)
            .state_of_charge_percent,
        );
      }),
    );
  });

  it('survives events with any data, which clients of the sandbox can publish', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            type: fc.constantFrom('charging_session.updated', 'charging_session.ended', 'vehicle.updated'),
            timestamp: fc.oneof(fc.string(), fc.constant(START.toISOString())),
            userId: fc.constant('user1'),
            data: fc.oneof(
              fc.dictionary(
                fc.constantFrom('id', 'plugged_in_at', 'energy_kwh', 'power_kw', 'state_of_charge_percent'),
                fc.jsonValue(),
              ),
              fc.constant({ id: 's', power_kw: -1, state_of_charge_percent: 1e308 }),
            ),
          }),
        ),
        (events) => {
          const { session, battery } = courseOf(events);
          for (const { at, kw } of session?.power ?? []) expect([at.getTime(), kw >= 0]).not.toContain(NaN);
          expect(battery?.percent ?? 0).toBeLessThanOrEqual(100);
        },
      ),
    );
  });
});
