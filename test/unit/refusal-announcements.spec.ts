import { readAnnouncement, writeAnnouncement } from '../../src/rate-limits/refusal-announcements.js';

const REFUSAL = { key: 'address:192.0.2.1', limit: 300, retryAfterMs: 30_000 };
const NOW = 1_800_000_000_000;
const MESSAGE = writeAnnouncement(REFUSAL, NOW);

describe('The announcement of a refusal', () => {
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no key', MESSAGE.replace('"key"', '"name"')],
    ['a limit in words', MESSAGE.replace('300', '"many"')],
    ['no moment', MESSAGE.replace('"at"', '"on"')],
    ['more than an hour', writeAnnouncement({ ...REFUSAL, retryAfterMs: 3_600_001 }, NOW)],
  ])('is ignored with %s', (_, message) => {
    expect(readAnnouncement(message, NOW)).toBeUndefined();
  });

  it('is ignored when it arrives after the refusal has ended', () => {
    expect(readAnnouncement(MESSAGE, NOW + 30_000)).toBeUndefined();
  });

  it('ends when the refusal ends, however long it took to arrive', () => {
    expect(readAnnouncement(MESSAGE, NOW)).toEqual(REFUSAL);
    expect(readAnnouncement(MESSAGE, NOW + 10_000)).toEqual({ ...REFUSAL, retryAfterMs: 20_000 });
  });

  it('never makes a refusal longer on an instance whose clock is behind', () => {
    expect(readAnnouncement(MESSAGE, NOW - 10_000)).toEqual(REFUSAL);
  });
});
