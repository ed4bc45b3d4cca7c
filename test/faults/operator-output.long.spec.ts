import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { COMMANDS, DATABASE_COMMANDS } from '#entrypoints/cli/commands.js';
import { FEATURE_COMMANDS } from '#start/feature-commands.js';
import { TEST_ENCRYPTION_KEY, useService } from '../support/test-service.js';

const PROGRAM = 'dist/src/operator.js';
/** What a pipe holds; `apply` and `export` print more. */
const PIPE_BYTES = 65_536;
const CLIENTS = 300;

describe('what the operator tool prints', () => {
  const service = useService();
  const folder = mkdtempSync(path.join(tmpdir(), 'charging-output-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const env = () => ({
    PATH: process.env.PATH,
    BASE_URL: service.url,
    DATABASE_URL: service.database.url,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
  });
  const file = (name: string, content: string): string => {
    writeFileSync(path.join(folder, name), content);
    return path.join(folder, name);
  };
  const company = (word: string): string => {
    const numbers = Array.from({ length: CLIENTS }, (_, n) => n);
    return stringify({
      owners: Object.fromEntries(
        numbers.map((n) => [`p${n}@${word}.example`, { name: `Partner ${n}`, kind: 'organisation' }]),
      ),
      clients: numbers.map((n) => ({
        name: `Client ${n}`,
        owner: `p${n}@${word}.example`,
        type: 'confidential',
        grant_types: ['authorization_code'],
        scopes: ['vehicle:read'],
        redirect_uris: [`https://${n}.${word}.example/`],
      })),
    });
  };
  /** Runs a command whose output goes into a pipe that is full already, and is read only when the command has printed something. */
  const ran = async (args: string[]): Promise<{ code: number; out: string }> => {
    const fifo = path.join(folder, `pipe-${args[0]}`);
    execFileSync('mkfifo', [fifo]);
    const reading = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const writing = openSync(fifo, constants.O_WRONLY);
    expect(writeSync(writing, Buffer.alloc(PIPE_BYTES))).toBe(PIPE_BYTES);
    const child = spawn(process.execPath, ['--import=./test/support/tells-of-output.mjs', PROGRAM, ...args], {
      env: env(),
      stdio: ['ignore', writing, writing, 'pipe'],
    });
    closeSync(writing);
    const ended = once(child, 'exit') as Promise<[number]>;
    await Promise.race([once(child.stdio[3] as Readable, 'data'), ended]);
    const reader = new Socket({ fd: reading, readable: true, writable: false });
    const read: Buffer[] = [];
    for await (const chunk of reader) {
      read.push(chunk as Buffer);
      await turn();
    }
    const [code] = await ended;
    return { code, out: Buffer.concat(read).subarray(PIPE_BYTES).toString() };
  };

  beforeAll(async () => {
    const there = file('there.yaml', company('there'));
    const { run } = await FEATURE_COMMANDS.apply!.load();
    await run(service.app, '', { file: [there] }, {});
  });

  it('is whole behind a slow pipe, of every command', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const line = {
      client_id: client.id,
      user_id: user.id,
      scopes: ['vehicle:read'],
      granted_at: '2025-05-01T12:00:00Z',
      evidence: 'Contract 4711',
    };
    const consents = file('consents.ndjson', `${JSON.stringify(line)}\n`);
    const isJson = (out: string) => JSON.parse(out) as unknown;
    const areLines = (out: string) => out.trimEnd().split('\n').map(isJson);
    const endsWith = (end: string | RegExp) => (out: string) =>
      expect(out.slice(-100)).toEqual(expect.stringMatching(end));
    const expected: Record<
      string,
      [args: string[], isWhole: (out: string) => unknown, code?: number, least?: number]
    > = {
      migrate: [[], isJson],
      'make-operator': [['--email', 'slow@pipe.example'], isJson],
      'make-admin': [[user.email], isJson],
      apply: [
        ['-f', file('new.yaml', company('new')), '--dry-run'],
        endsWith(/\nWould create \d+, change \d+, remove \d+\.\n$/),
        2,
        PIPE_BYTES,
      ],
      export: [[], endsWith(/\nend: true\n$/), 0, PIPE_BYTES],
      'reset-second-factor': [[user.id], isJson],
      'import-consents': [[consents, '--dry-run'], isJson],
      words: [['--export'], isJson],
      audit: [[], areLines, 0, PIPE_BYTES],
      refusals: [['--after', 'nothing'], endsWith(/The cursor is not one .*\n$/), 1],
      purge: [[], isJson],
      reseal: [[], isJson],
      'token-keys': [[], isJson],
      'rotate-token-key': [[], isJson],
      'revoke-token-key': [['no number'], endsWith(/\.\n$/), 1],
    };
    expect(Object.keys(expected).sort()).toEqual(
      Object.keys({ ...COMMANDS, ...DATABASE_COMMANDS, ...FEATURE_COMMANDS }).sort(),
    );
    for (const [name, [args, isWhole, code = 0, least = 1]] of Object.entries(expected)) {
      const { out, ...rest } = await ran([name, ...args]);
      expect([name, rest.code, out.length >= least ? 'long enough' : out]).toEqual([
        name,
        code,
        'long enough',
      ]);
      isWhole(out);
    }
    const usage = await ran(['no-such-command']);
    expect(usage).toEqual({ code: 1, out: expect.stringMatching(/DATABASE_URL is required\.\n$/) });
  });

  /** What stands on standard error, and the exit code of the tool. */
  const shell = async (script: string): Promise<string[]> => {
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { env: env() });
    return [stderr, stdout.trimEnd().split('\n').at(-1)!];
  };
  const tool = `'${process.execPath}' ${PROGRAM}`;

  it('may be left by its reader: no word of that, and an exit code of its own', async () => {
    const code = 'echo "code ${PIPESTATUS[0]}"';
    expect(await shell(`${tool} export | head -c 1 >/dev/null; ${code}`)).toEqual(['', 'code 3']);
    expect(await shell(`${tool} audit | head -n 1 >/dev/null; ${code}`)).toEqual(['', 'code 3']);
    expect(await shell(`${tool} no-such-command 2>&1 | true; ${code}`)).toEqual(['', 'code 1']);
    // What it should do is done.
    const file = path.join(folder, 'left.yaml');
    writeFileSync(file, company('left'));
    expect(await shell(`${tool} apply -f ${file} | head -c 1 >/dev/null; ${code}`)).toEqual(['', 'code 3']);
    const [{ count }] = (await service.database.query(
      "SELECT count(*)::int AS count FROM users WHERE email LIKE '%@left.example'",
    )) as [{ count: number }];
    expect(count).toBe(CLIENTS);
  });

  it('that does not fit on a disk is a failure that says so', async () => {
    expect(await shell(`${tool} export >/dev/full; echo "code $?"`)).toEqual([
      expect.stringMatching(/^Not all of the output could be written: ENOSPC.*\n$/),
      'code 3',
    ]);
  });
});
