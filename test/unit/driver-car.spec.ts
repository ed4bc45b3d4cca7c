import { parse } from 'node-html-parser';
import { renderToString } from 'preact-render-to-string';
import type { Driver } from '#events/sandbox/driver.js';
import { Car } from '#features/live-sandbox/car.js';
import { Power } from '#features/live-sandbox/live-driver.js';
import type { SessionCourse } from '#features/live-sandbox/session-course.js';

const NOW = new Date('2026-05-01T12:00:00Z');
const STARTED = new Date('2026-05-01T11:00:00Z');
const DRIVER: Driver = {
  id: 'user01HN2NJ9NMRZBXT1H6FT9N7735',
  name: 'Ada',
  seed: 42,
  scopes: [],
  hasConsent: true,
  isRunning: true,
  endsAt: null,
  waiting: 0,
};
const session = (kw: number[], endedAt?: Date): SessionCourse['session'] => ({
  startedAt: STARTED,
  endedAt,
  energyKwh: 7.5,
  power: kw.map((each, n) => ({ at: new Date(STARTED.getTime() + n * 60_000), kw: each })),
});

/** What the page says of the car, and what its drawing has: how full it is, the mark of a limit, and whether power flows. */
function shown(course: SessionCourse, driver: Partial<Driver> = {}) {
  const of = { driver: { ...DRIVER, ...driver }, course, now: NOW };
  const html = parse(renderToString(Car(of)));
  const said = html.querySelectorAll('dd').map(({ text }) => text);
  const [drawing] = html.querySelectorAll('svg');
  return {
    battery: said[0],
    now: said[1],
    energy: said[2],
    full: drawing!.querySelector('.battery-charge')!.getAttribute('width'),
    limit: drawing!.querySelector('line')?.getAttribute('x1'),
    charges: drawing!.querySelector('.power-flow') !== null,
    hasChart: parse(renderToString(Power(of))).querySelector('svg') !== null,
  };
}

describe('The car of a driver of the sandbox', () => {
  it('that has reported nothing yet is empty', () => {
    expect(shown({})).toEqual({
      battery: expect.stringMatching(/^\d+ kWh, not reported yet$/),
      now: 'not charging',
      energy: '–',
      full: '0',
      limit: undefined,
      charges: false,
      hasChart: false,
    });
  });

  it('that charges shows the power, and the limit if there is one', () => {
    const charging = { battery: { percent: 50, limit: 80 }, session: session([11, 7.4]) };
    expect(shown(charging)).toEqual({
      battery: expect.stringMatching(/^50 % of \d+ kWh, up to 80 %$/),
      now: 'charging with 7.4 kW',
      energy: '7.5 kWh in this session',
      full: '86',
      limit: '241.6',
      charges: true,
      hasChart: true,
    });
    expect(shown({ ...charging, battery: { percent: 50, limit: 100 } }).limit).toBeUndefined();
  });

  it.each<[string, SessionCourse['session'], Partial<Driver>, string]>([
    ['is plugged in, and waits', session([]), {}, 'plugged in, waiting to charge'],
    ['has no power now', session([11, 0]), {}, 'plugged in, waiting to charge'],
    ['has ended its session', session([11], NOW), {}, 'not charging'],
    ['has events to come', session([11], NOW), { waiting: 3 }, 'events wait'],
    [
      'belongs to a session that was stopped',
      session([11]),
      { isRunning: false, endsAt: NOW },
      'not charging',
    ],
  ])('that %s says so, and draws no sign of charging', (_what, of, driver, now) => {
    expect(shown({ session: of }, driver)).toMatchObject({ now, charges: false, hasChart: true });
  });
});
