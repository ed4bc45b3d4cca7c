import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** What scripts/bundle.mjs leaves apart, with what it needs. */
const APART =
  /\/node_modules\/(@node-rs|pg|pg-[a-z0-9-]+|postgres-[a-z]+|xtend|passport-http|passport-strategy)\//;

it('The bundle loads no second copy of a package', async () => {
  const chunk = readdirSync('dist/bundle').find((name) => name.startsWith('app.module-'))!;
  const program = `
    import { createRequire } from 'node:module';
    await import(${JSON.stringify(pathToFileURL(path.resolve('dist/bundle', chunk)).href)});
    process.stdout.write(JSON.stringify(Object.keys(createRequire('/').cache)));
    process.exit();`;
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded).toContainEqual(expect.stringMatching(/node_modules\/pg\//));
  expect(loaded.filter((file) => !APART.test(file))).toEqual([]);
});
