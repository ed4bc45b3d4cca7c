import { readdirSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { STATIC_ASSETS } from '#platform/http/server/assets.js';
import { startService, type TestService, until } from '../support/spec.js';

const PER_ADDRESS = 20;
const IN_ALL = 30;
const UNREAD = 4;
const PROXY = '127.0.0.9';
const LIMITS = { CONNECTIONS_PER_ADDRESS: String(PER_ADDRESS), CONNECTIONS_MAX: String(IN_ALL) };

let service: TestService;
const sockets: Socket[] = [];
/** The ports of the connections that the service has, each by its other end. */
const kept = new Set<number>();
const untilLetGo = (ports: (number | undefined)[]) =>
  until('the service has let them go', () => !ports.some((port) => kept.has(port!)));
afterEach(async () => {
  const ports = sockets.map(({ localPort }) => localPort);
  for (const socket of sockets.splice(0)) socket.destroy();
  await untilLetGo(ports);
});

/** For the tests of a `describe`. */
function useLimits(env: Record<string, string>): void {
  beforeAll(async () => {
    service = await startService({ env: { ...LIMITS, ...env } });
    service.app.getHttpServer().on('connection', (socket: Socket) => {
      const port = socket.remotePort!;
      kept.add(port);
      socket.on('close', () => kept.delete(port));
    });
  });
  afterAll(() => service.stop());
}

const request = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const LIVE = request('/health/live');

/** What a connection received, up to its first byte or its end. */
interface Opened {
  socket: Socket;
  first: Promise<string>;
}

function open(sends: string, localAddress = '127.0.0.1'): Opened {
  const socket = connect({ port: service.settings.port, host: '127.0.0.1', localAddress });
  sockets.push(socket);
  const first = new Promise<string>((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    socket.once('close', () => resolve('closed'));
    socket.on('error', () => resolve('closed'));
  });
  socket.write(sends);
  return { socket, first };
}

/** Opens a connection that never reads what it asked for. */
const openUnread = (sends: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(service.settings.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', reject);
    socket.pause();
    socket.once('connect', () => socket.write(sends, () => resolve()));
  });

/** One after the other, so that it is certain which are too many. */
async function openSeveral(
  count: number,
  localAddress?: string,
): Promise<{ answers: string[]; all: Socket[] }> {
  const opened: Opened[] = [];
  const answers: string[] = [];
  for (let n = 0; n < count; n++) {
    opened.push(open(LIVE, localAddress));
    answers.push((await opened[n]!.first).split('\r\n')[0]!);
  }
  return { answers, all: opened.map(({ socket }) => socket) };
}

const served = (count: number): string[] => Array<string>(count).fill('HTTP/1.1 200 OK');
const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    service.app
      .getHttpServer()
      .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count))),
  );
const closed = async (reason: string): Promise<number> => {
  const { text } = await service.http.send('/metrics');
  return Number(new RegExp(`^connections_closed_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(text)![1]);
};

describe('Connections that read nothing', () => {
  useLimits({ CONNECTION_IDLE_SECONDS: '2' });
  const script = STATIC_ASSETS.find(({ versioned }) => versioned)!;
  // More than the system takes for a connection that nobody reads.
  const download = request(script.path).repeat(8);

  it('are cut off, and hold no file open until then', async () => {
    // Read into memory once.
    await service.http.get(script.path);
    const before = await closed('not_read');
    await Promise.all(Array.from({ length: UNREAD }, () => openUnread(download)));
    await until('all have begun', async () => (await connections()) >= UNREAD);
    const files = readdirSync('/proc/self/fd').map((each) => {
      try {
        return readlinkSync(`/proc/self/fd/${each}`);
      } catch {
        return '';
      }
    });
    expect(files.filter((file) => file.endsWith(script.file))).toEqual([]);
    await untilLetGo(sockets.map(({ localPort }) => localPort));
    expect(await closed('not_read')).toBe(before + UNREAD);
  });

  it('are told from those that wait for this service', async () => {
    const bearer = await service.make.clientToken(await service.make.client());
    const answer = await service.http.send('/v2/events?after=latest&wait=4', { bearer });
    expect([answer.status, answer.json]).toEqual([200, []]);
  });
});

describe('Connections', () => {
  useLimits({ TRUSTED_PROXIES: PROXY });

  it('of one address are bounded, and others are served', async () => {
    const before = await closed('too_many_of_address');
    const { answers, all } = await openSeveral(PER_ADDRESS + 1, '127.0.0.2');
    expect(answers).toEqual([...served(PER_ADDRESS), 'closed']);
    expect((await openSeveral(1, '127.0.0.3')).answers).toEqual(served(1));
    expect(await closed('too_many_of_address')).toBe(before + 1);
    all[0]!.destroy();
    await until(
      'its place is free',
      async () => (await openSeveral(1, '127.0.0.2')).answers[0] === served(1)[0],
    );
  });

  it('are bounded in all', async () => {
    const before = await closed('too_many');
    // The connection for the metrics may stay open.
    const held = await connections();
    const first = await openSeveral(15, '127.0.0.2');
    const second = await openSeveral(IN_ALL - 15 - held, '127.0.0.3');
    expect([...first.answers, ...second.answers]).toEqual(served(IN_ALL - held));
    expect((await openSeveral(1, '127.0.0.4')).answers).toEqual(['closed']);
    first.all[0]!.destroy();
    await until(
      'its place is free',
      async () => (await openSeveral(1, '127.0.0.4')).answers[0] === served(1)[0],
    );
    first.all[1]!.destroy();
    await until('the metrics can be read', async () => (await closed('too_many').catch(() => 0)) > before);
  });

  it('of a trusted proxy are bounded in all only: they are those of everybody', async () => {
    expect((await openSeveral(PER_ADDRESS + 5, PROXY)).answers).toEqual(served(PER_ADDRESS + 5));
  });
});
