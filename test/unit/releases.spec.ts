import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { MIGRATION_DIGESTS } from '#platform/database/migrations/schema-state.js';
import { previousRelease, RELEASES, releases } from '../support/previous-release.js';

describe('What is released is frozen:', () => {
  it.each(Object.keys(releases))('the program of %s is the one that was released', (version) => {
    const program = readFileSync(path.join(RELEASES, `${version}.tar.br`));
    expect(createHash('sha256').update(program).digest('hex')).toBe(releases[version]!.sha256);
  });

  it('every program there is recorded', () => {
    const programs = readdirSync(RELEASES).filter((file) => file !== 'releases.json');
    expect(programs.sort()).toEqual(
      Object.keys(releases)
        .map((version) => `${version}.tar.br`)
        .sort(),
    );
  });

  it.each(Object.keys(releases))('the migrations of %s have the text that they had then', (version) => {
    for (const [name, digest] of Object.entries(releases[version]!.migrations))
      expect([name, MIGRATION_DIGESTS[name]]).toEqual([name, digest]);
  });

  it('the recorded digests are those of the texts, and no released one has changed', async () => {
    await promisify(execFile)(process.execPath, ['scripts/record-migrations.mjs', '--check']);
  });

  it('the release whose upgrade is tested lacks a migration of this build, where there is one', () => {
    const lacking = Object.entries(releases).filter(([, { migrations }]) =>
      Object.keys(MIGRATION_DIGESTS).some((name) => migrations[name] === undefined),
    );
    expect(previousRelease()).toBe((lacking.length > 0 ? lacking : Object.entries(releases)).at(-1)![0]);
  });
});
