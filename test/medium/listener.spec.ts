import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Listener } from '#platform/database/connections/listener.service.js';
import type { Settings } from '#platform/config/settings.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { until } from '../support/until.js';

const NOTIFICATION = 'A'.charCodeAt(0);
const COMMAND_COMPLETE = 'C'.charCodeAt(0);

describe('the listening connection', () => {
  let database: TestDatabase;
  let pooler: Server;
  let url: string;
  let passesAnnouncements: boolean;
  let lost: number;
  let listener: Listener;
  let clients: Socket[];
  let heard: string[];
  /** The connections of which nothing is read, or nothing after the answers to their settings and first statement; by the order in which they were made. */
  let silent: number[];
  let silentOnceAnswered: number[];

  /** A relay that works like a pooler in transaction mode: it forwards everything except unsolicited messages. */
  beforeEach(async () => {
    database = await createTestDatabase();
    lost = 0;
    clients = [];
    silent = [];
    silentOnceAnswered = [];
    const { hostname, port } = new URL(database.url);
    pooler = createServer((client) => {
      const server = connect(Number(port), hostname);
      const n = clients.push(client) - 1;
      let rest = Buffer.alloc(0);
      let answers = 0;
      server.on('data', (chunk) => {
        rest = Buffer.concat([rest, chunk]);
        // A message: one byte for its type, then four for the length of the rest.
        while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
          const end = rest.readInt32BE(1) + 1;
          if (rest[0] !== NOTIFICATION || passesAnnouncements) client.write(rest.subarray(0, end));
          else lost++;
          if (rest[0] === COMMAND_COMPLETE && ++answers === 2 && silentOnceAnswered.includes(n))
            client.unpipe().pause();
          rest = rest.subarray(end);
        }
      });
      if (!silent.includes(n)) client.pipe(server);
      client.on('error', () => undefined).on('close', () => server.destroy());
      server.on('error', () => undefined).on('close', () => client.destroy());
    });
    await new Promise<void>((resolve) => pooler.listen(0, '127.0.0.1', resolve));
    const through = new URL(database.url);
    through.host = `127.0.0.1:${(pooler.address() as AddressInfo).port}`;
    url = through.href;
    heard = [];
    listener = new Listener({ databaseUrl: url } as Settings);
    listener.listen('some_channel', {
      onConnected: () => heard.push('connected'),
      onAnnouncement: (payload) => heard.push(payload),
    });
  });
  afterEach(async () => {
    await listener.beforeApplicationShutdown();
    clients.forEach((client) => client.destroy());
    pooler.close();
    await database.drop();
  });

  it('does not count as listening where announcements get lost, as behind a pooler in transaction mode', async () => {
    passesAnnouncements = false;
    listener.onApplicationBootstrap();
    // When it tries again, it has given up the first attempt.
    await until('it tries again', () => lost >= 2);
    expect([listener.isConnected, heard]).toEqual([false, []]);
    await expect(listener.query({ text: 'SELECT 1' })).rejects.toThrow('not connected');
  });

  it('does not take a connection that breaks while it waits for its announcement for one behind a pooler', async () => {
    const silence = HeldTimers.hold(3_000, 3_000, 'session-mode');
    try {
      passesAnnouncements = false;
      listener.onApplicationBootstrap();
      await until('it waits', () => lost === 1);
      passesAnnouncements = true;
      clients.forEach((client) => client.destroy());
      await until('it listens', () => listener.isConnected);
      // The time of the first attempt is over.
      silence.letPass();
      await turns();
      expect([listener.isConnected, listener.losesNotifications]).toEqual([true, false]);
    } finally {
      silence.release();
    }
  });

  it('is replaced only once if it breaks while the announcing connection waits for an answer', async () => {
    // Until then the driver waits for an answer to the announcing connection.
    const limit = HeldTimers.hold(3_000, 3_000, 'pg/lib/client');
    const silence = HeldTimers.hold(3_000, 3_000, 'session-mode');
    // Of this one alone: other services of this process may listen meanwhile.
    const warn = jest.spyOn(listener['logger'], 'warn').mockReturnValue();
    let later: HeldTimers | undefined;
    try {
      passesAnnouncements = true;
      silent = [1];
      listener.onApplicationBootstrap();
      await until('another connection is to announce', () => clients.length === 2);
      later = HeldTimers.hold(3_000, 3_000, 'pg/lib/client');
      clients[0]!.destroy();
      await until('it listens again', () => listener.isConnected);
      // Another service would lose its connection, too, if its query was taken for unanswered.
      await until('nothing else waits for an answer', () => limit.count === 1);
      const reconnections = HeldTimers.hold(500, 500, 'listener.service');
      try {
        limit.letPass();
        clients[1]!.resume();
        await until('the announcing connection has given up', () => clients[1]!.closed);
        await turns();
        expect(reconnections.count).toBe(0);
      } finally {
        reconnections.release();
      }
      expect([listener.isConnected, listener.losesNotifications, heard]).toEqual([
        true,
        false,
        ['connected'],
      ]);
      expect(warn).not.toHaveBeenCalled();
    } finally {
      warn.mockRestore();
      later?.release();
      limit.release();
      silence.release();
    }
  });

  it('is replaced without waiting for the other side if the network falls silent during the proof', async () => {
    const limit = HeldTimers.hold(3_000, 3_000, 'pg/lib/client');
    try {
      passesAnnouncements = true;
      silent = [1];
      listener.onApplicationBootstrap();
      await until('another connection is to announce', () => clients.length === 2);
      clients[0]!.unpipe().pause();
      // Another service would lose its connection, too, if its query was taken for unanswered.
      await until('nothing else waits for an answer', () => limit.count === 1);
      limit.letPass();
      await until('it listens', () => listener.isConnected);
    } finally {
      limit.release();
    }
  });

  it('is proved without waiting for the other side to close the announcing connection', async () => {
    passesAnnouncements = true;
    silentOnceAnswered = [1];
    listener.onApplicationBootstrap();
    await until('it listens', () => listener.isConnected);
  });

  it('listens once announcements arrive, and receives those of other connections', async () => {
    passesAnnouncements = true;
    listener.onApplicationBootstrap();
    await until('it listens', () => listener.isConnected);
    await listener.query({ text: 'SELECT 1' });
    await database.query("SELECT pg_notify('some_channel', 'news')");
    await listener.query({ text: 'SELECT 1' });
    expect(heard).toEqual(['connected', 'news']);
  });
});
