import { timeAttributes, timeInUtc } from '#platform/web/forms/utc-time.js';

describe('A time in a filter', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T08:00', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00:30', '2026-01-31T08:00:30.000Z'],
    ['2026-01-31T08:00:30.250', '2026-01-31T08:00:30.250Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00+02:00', '2026-01-31T06:00:00.000Z'],
  ])('is in UTC unless it names a zone, whatever that of the service is: %s', (typed, time) => {
    for (const each of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
      process.env['TZ'] = each;
      expect([each, timeInUtc(typed).toISOString()]).toEqual([each, time]);
    }
  });

  it.each([
    ['datetime-local', '', 'datetime-local', ''],
    ['datetime-local', '2026-01-31T08:00', 'datetime-local', '2026-01-31T08:00'],
    ['datetime-local', '2026-01-31T08:00:00Z', 'datetime-local', '2026-01-31T08:00:00'],
    ['datetime-local', '2026-01-31', 'datetime-local', '2026-01-31T00:00:00'],
    ['datetime-local', '2026-02-30T08:00', 'text', '2026-02-30T08:00'],
    ['datetime-local', 'yesterday', 'text', 'yesterday'],
    ['date', '2026-01-31', 'date', '2026-01-31'],
    ['date', '2026-02-30', 'text', '2026-02-30'],
    ['date', '2026-01-31T08:00:00Z', 'text', '2026-01-31T08:00:00Z'],
  ] as const)('is kept by its field, %s of “%s”', (type, typed, shownAs, value) => {
    expect(timeAttributes(type, typed)).toEqual({ type: shownAs, value });
  });
});
