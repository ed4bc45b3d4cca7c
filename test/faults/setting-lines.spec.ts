import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../support/free-port.js';
import { SpawnedService } from '../support/spawned-service.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { listOf } from '../support/list-of.js';

interface LogLine {
  level: string;
  msg: string;
}

describe('the log of a start', () => {
  afterEach(() => SpawnedService.killAll());

  const linesOf = async (environment: Record<string, string>): Promise<LogLine[]> => {
    const service = new SpawnedService({ NODE_ENV: 'production', ...environment });
    expect(await service.exit()).toBe(1);
    return service.printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
  };

  it('is one JSON line that names every setting that is missing or invalid, and no value of one, also when the level is one of them', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'charging-lines-'));
    const lines = await linesOf({
      PORT: 'zero',
      LOG_LEVEL: 'loud',
      BASE_ULR: 'https://auth.example',
      ENCRYPTION_KEY: 'hidden-word',
      DATABASE_URL: 'mysql://root:hidden-word@db.example/x',
      DATA_DIR: path.join(root, 'data'),
    });
    expect(await readdir(root)).toEqual([]);
    await rm(root, { recursive: true });
    expect(lines).toEqual([expect.objectContaining({ level: 'fatal' })]);
    expect(JSON.stringify(lines)).not.toContain('hidden-word');
    const named = [...lines[0]!.msg.matchAll(/([A-Z][A-Z_]+) (?:must|is not)/g)].map(([, name]) => name);
    expect(named.sort()).toEqual(
      listOf(`
      BASE_ULR, BASE_URL, DATABASE_URL, ENCRYPTION_KEY, LOG_LEVEL, PORT
    `),
    );
    expect(lines[0]!.msg).toContain('BASE_ULR is not a setting and is ignored; BASE_URL was probably meant');
  });

  it('warns of a misspelt setting, and goes on', async () => {
    const lines = await linesOf({
      BASE_URL: 'https://auth.example',
      DATABASE_URL: `postgres://user:password@127.0.0.1:${await freePort()}/charging`,
      DATABASE_WAIT_SECONDS: '0',
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      PORT: String(await freePort()),
      ACCES_TOKEN_TTL_SECONDS: '60',
    });
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        msg: 'ACCES_TOKEN_TTL_SECONDS is not a setting and is ignored; ACCESS_TOKEN_TTL_SECONDS was probably meant',
      }),
    );
    expect(lines.at(-1)).toMatchObject({ level: 'fatal', msg: expect.stringContaining('DATABASE_URL') });
  });
});
