import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { HELD_TIMERS } from '../support/spawned-service.js';
import { listOf } from '../support/list-of.js';

/** All take minutes: before a landing some show that each kind of measurement and the report work. */
const WORKLOADS = process.env.NIGHTLY ? 'every workload' : 'some workloads';
const MEASURED = process.env.NIGHTLY
  ? ['W1', 'W2', 'W2b', 'W2c', 'W3', 'W3h', 'W4', 'W5', 'W8', 'W6 W1', 'W6 W2', 'W6 W2b', 'W6 W3']
  : ['W1', 'W3', 'W5', 'W8'];
const BOUNDS = process.env.NIGHTLY
  ? ['idle instance,', 'W1 p99,', 'W7 W1 keeps', 'W7 longest', 'W9 W1 p99', 'memory']
  : ['W1 p99,', 'memory'];
const ONLY = process.env.NIGHTLY ? [] : ['--only', MEASURED.join()];

/** Runs a Node.js program until it exits. */
const node = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const { PATH, HOME, TMPDIR } = process.env;
    // What the bench starts has it, too: on a busy machine a request may wait for a connection longer than the service allows.
    const NODE_OPTIONS = `--import=${HELD_TIMERS}`;
    const env = { PATH, HOME, NODE_OPTIONS, ...(TMPDIR ? { TMPDIR } : {}) };
    execFile(process.execPath, args, { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

describe('the bench', () => {
  it.each([
    [['--only', 'W10'], 'There is no workload W10.'],
    [['--rounds', '0'], '--rounds must be a whole number above 0.'],
    [['--seconds', 'many'], '--seconds must be a number above 0.'],
    [['--fast'], "Unknown option '--fast'"],
  ])('refuses %j before it starts anything', async (args, words) => {
    const { code, out, err } = await node('bench/run.mjs', ...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain(words);
  });

  describe('when it generates load', () => {
    let server: Server;
    let answer: { status: number; body: string; headers?: Record<string, string> };
    beforeAll(async () => {
      server = createServer((_request, response) => {
        const headers = answer.headers ?? { 'content-length': Buffer.byteLength(answer.body) };
        response.writeHead(answer.status, headers).end(answer.body);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    const load = () => {
      const { port } = server.address() as AddressInfo;
      return node(
        '--input-type=module',
        '-e',
        `import { runLoad } from './bench/load.mjs';
         import { checkTokens } from './bench/workloads/tokens.mjs';
         const connectionOf = () => ({ request: () => 'GET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n', check: checkTokens });
         const { requests } = await runLoad({ port: ${port}, seconds: 0.2, connectionOf, connections: 2 });
         process.stdout.write(String(requests));`,
      );
    };
    const right = {
      access_token: 't'.repeat(43),
      expires_in: 36_000,
      token_type: 'Bearer',
      scope: 'charging_session:read vehicle:read',
    };

    it.each(
      Object.entries({
        'another status': { status: 503, body: JSON.stringify(right) },
        'a wrong member': { status: 200, body: JSON.stringify({ ...right, scope: '' }) },
        'text that is not JSON': { status: 200, body: 'access_token' },
        'no length': {
          status: 200,
          body: JSON.stringify(right),
          headers: { 'transfer-encoding': 'chunked' },
        },
      }),
    )('fails at a response with %s', async (_name, wrong) => {
      answer = wrong;
      const { code, err } = await load();
      expect(code).toBe(1);
      expect(err).toMatch(/a wrong answer|an answer without a length/);
    });

    it('counts correct responses', async () => {
      answer = { status: 200, body: JSON.stringify(right) };
      const { code, out } = await load();
      expect(code).toBe(0);
      expect(Number(out)).toBeGreaterThan(1);
    });
  });

  it('reports the interval that contains the median of many rounds with a confidence of 95 %', async () => {
    const { out } = await node(
      '--input-type=module',
      '-e',
      `import { medianInterval } from './bench/measure.mjs';
       const interval = (count) => medianInterval(Array.from({ length: count }, (_, n) => n + 1).reverse());
       process.stdout.write(JSON.stringify([48, 16, 6].map(interval)));`,
    );
    expect(JSON.parse(out)).toEqual([
      [17, 32],
      [4, 13],
      [1, 6],
    ]);
  });

  it(`runs ${WORKLOADS} and reports the results as a table and a chart`, async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-bench-spec-'));
    try {
      const out = path.join(folder, 'report');
      const short = listOf(`
        --seconds, 0.1, --rows, 1000, --expired, 500, --deliveries, 50, --backlog, 100
      `);
      const { code, err } = await node('bench/run.mjs', '--quick', ...ONLY, ...short, '--out', out);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const rows = (await readFile(`${out}.md`, 'utf8'))
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .map((line) => line.slice(2, -2).split(' | '));
      const named = (name: string) => rows.find((cells) => cells[0]!.startsWith(`${name} `)) ?? [];
      for (const id of MEASURED) {
        const [, floor, ours, ratio] = named(id).map((cell) => Number(cell.replaceAll(',', '')));
        // On a machine that stops for a moment the ratio of two such short rounds may be 0.00.
        expect([id, floor! > 0, ours! > 0, Number.isFinite(ratio)]).toEqual([id, true, true, true]);
      }
      for (const name of BOUNDS) {
        expect([name, Number(named(name)[1])]).toEqual([name, expect.any(Number)]);
        expect([name, Number(named(name)[1]) >= 0]).toEqual([name, true]);
      }
      // The comparison with the wall and the growth per million requests: further tables, whose rows begin with the same names.
      const all = (name: string) => rows.filter((cells) => cells[0] === name);
      const [wall, growth] = all('W1').filter((cells) => Number(cells[1]!.replaceAll(',', '')) > 0);
      expect([wall, growth].map((cells) => cells?.length)).toEqual([9, 7]);
      // The floor leaves one row for each token.
      expect(growth![1]).toBe('1,000,000');
      const picture = await readFile(`${out}.svg`, 'utf8');
      expect(picture).toMatch(/^<svg .*<\/svg>\s*$/s);
      expect(picture).not.toMatch(/NaN|undefined/);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
