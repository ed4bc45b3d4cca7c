import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Settings } from '#platform/config/settings.js';
import { MemoryRateLimitStore } from '#access/rate-limits/store/memory-rate-limit-store.js';
import {
  readAnnouncement,
  AddressRefusals,
  writeAnnouncement,
  type AddressRefusal,
} from '#access/rate-limits/address-refusals.js';
import { until } from '../support/until.js';

const REFUSAL = { key: 'address:192.0.2.1', limit: 300, retryAfterMs: 30_000 };
const NOW = 1_800_000_000_000;
const DATABASE = 2;
const MESSAGE = writeAnnouncement(REFUSAL, DATABASE, NOW);

describe('The announcement of a refusal', () => {
  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a list', '[]'],
    ['no key', MESSAGE.replace('"key"', '"name"')],
    ['a limit in words', MESSAGE.replace('300', '"many"')],
    ['no moment', MESSAGE.replace('"at"', '"on"')],
    ['another database, whose counters are not ours', writeAnnouncement(REFUSAL, 0, NOW)],
    ['more than an hour', writeAnnouncement({ ...REFUSAL, retryAfterMs: 3_600_001 }, DATABASE, NOW)],
  ])('is ignored with %s', (_, message) => {
    expect(readAnnouncement(message, DATABASE, NOW)).toBeUndefined();
  });

  it('is ignored when it arrives after the refusal has ended', () => {
    expect(readAnnouncement(MESSAGE, DATABASE, NOW + 30_000)).toBeUndefined();
  });

  it('ends when the refusal ends, however long it took to arrive', () => {
    expect(readAnnouncement(MESSAGE, DATABASE, NOW)).toEqual(REFUSAL);
    expect(readAnnouncement(MESSAGE, DATABASE, NOW + 10_000)).toEqual({ ...REFUSAL, retryAfterMs: 20_000 });
  });

  it('never makes a refusal longer on an instance whose clock is behind', () => {
    expect(readAnnouncement(MESSAGE, DATABASE, NOW - 10_000)).toEqual(REFUSAL);
  });
});

describe('The connection on which an instance hears refusals', () => {
  const CHANNEL = '$12\r\ncds:refusals\r\n';
  const SUBSCRIBED = `*3\r\n$9\r\nsubscribe\r\n${CHANNEL}:1\r\n`;
  const heard: AddressRefusal[] = [];
  const unhandled: unknown[] = [];
  const noteUnhandled = (error: unknown) => void unhandled.push(error);
  /** What is sent on each connection when it subscribes; without it, the connection is closed. */
  const answers: (string | undefined)[] = [];
  const sockets: Socket[] = [];
  let redis: Server;
  let announcements: AddressRefusals;

  beforeAll(async () => {
    process.on('unhandledRejection', noteUnhandled);
    redis = createServer((socket) => {
      socket.on('error', () => undefined);
      // A connection that took too long to be made is given up before it subscribes.
      socket.once('data', () => {
        const answer = answers[sockets.push(socket) - 1];
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
    });
    await new Promise<void>((resolve) => redis.listen(0, '127.0.0.1', resolve));
    const { port } = redis.address() as AddressInfo;
    announcements = new AddressRefusals(new MemoryRateLimitStore(), {
      redisUrl: `redis://127.0.0.1:${port}`,
    } as Settings);
  });
  afterAll(async () => {
    announcements.onApplicationShutdown();
    await new Promise((resolve) => redis.close(resolve));
    process.off('unhandledRejection', noteUnhandled);
  });

  it('may end at any moment, also right after it was made again, and hears what comes later', async () => {
    const message = writeAnnouncement({ ...REFUSAL, retryAfterMs: 3_600_000 }, 0, Date.now());
    const announced = `*3\r\n$7\r\nmessage\r\n${CHANNEL}$${message.length}\r\n${message}\r\n`;
    answers.push(SUBSCRIBED, undefined, '-ERR max number of clients reached\r\n', SUBSCRIBED + announced);
    announcements.listen((refusal) => void heard.push(refusal));
    await until('it listens', () => sockets.length === 1 && sockets[0]!.bytesWritten > 0);
    sockets[0]!.destroy();
    await until('the second was closed and the third was refused', () => sockets.length === 3);
    await until('it knows', () => sockets[2]!.bytesWritten > 0);
    sockets[2]!.destroy();
    await until('it hears again', () => heard.length > 0);
    expect(heard).toEqual([{ ...REFUSAL, retryAfterMs: expect.any(Number) }]);
    expect(unhandled).toEqual([]);
  });
});
