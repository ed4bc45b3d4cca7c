import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setUpEventFeed } from '../../../../test/support/event-feed.js';
import { until } from '../../../../test/support/until.js';

/** The program beside the real service, in its own process. */
describe('charging-data forward', () => {
  const { service, client, publish } = setUpEventFeed();
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(path.join(tmpdir(), 'charging-forward-'))));
  afterEach(() => rm(folder, { recursive: true }));

  const start = () => {
    const cursor = path.join(folder, 'cursor.json');
    const args = ['forward', '--to', '-', '--cursor', cursor, '--from', 'oldest'];
    const child = spawn(process.execPath, ['dist/packages/cli/src/main.js', ...args], {
      env: {
        CHARGING_DATA_URL: service.url,
        CHARGING_DATA_CLIENT_ID: client.id,
        CHARGING_DATA_CLIENT_SECRET: client.secret,
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => (text += String(chunk)));
    const ids = () =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as { id: string }).id);
    const end = async (signal: NodeJS.Signals) => {
      child.kill(signal);
      return once(child, 'close');
    };
    return { ids, end };
  };

  it('writes every event at least once, in the order of the feed, although it is killed again and again', async () => {
    const [published, shown]: [string[], string[]] = [[], []];
    for (let kills = 0; kills < 3; kills++) {
      const program = start();
      published.push(await publish(), await publish());
      await until('it has written them', () => program.ids().includes(published.at(-1)!));
      await program.end('SIGKILL');
      shown.push(...program.ids());
      // While it is away.
      published.push(await publish());
    }
    const program = start();
    await until('it has written the last', () => program.ids().includes(published.at(-1)!));
    expect(await program.end('SIGTERM')).toEqual([0, null]);
    shown.push(...program.ids());
    // The consent of the user is an event, too.
    expect([...new Set(shown)].filter((id) => published.includes(id))).toEqual(published);
  });
});
