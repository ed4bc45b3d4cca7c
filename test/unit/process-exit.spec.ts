import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What a program has printed into a pipe may not have been read yet: `process.exit()` throws it away. */
const ALLOWED: Record<string, string> = {
  'src/main.ts': 'when the reason was written',
  'src/operator.ts': 'when the output was written',
  'src/start/start-service.ts': 'the log is written at once',
  'src/start/stop-on-signals.ts':
    'nothing was printed, the log is written at once, or when the reason was written',
  'scripts/create-migration.mjs': 'when the usage text was written',
  'scripts/record-migrations.mjs': 'the reason is written at once',
  'scripts/release.mjs': 'when the reason was written',
  'scripts/test-foreign.mjs': 'the reason is written at once',
  'scripts/test.mjs': 'nothing was printed',
  'scripts/test-watch.mjs': 'at the end by a signal',
};

describe('A program', () => {
  it('ends by process.exit() only where everything that it printed is written: elsewhere it sets process.exitCode', () => {
    const files = ['src', 'packages/cli/src', 'packages/guard/src', 'scripts'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(ts|tsx|mjs)$/.test(file))
        .map((file) => path.join(folder, file)),
    );
    expect(files.length).toBeGreaterThan(1_000);
    const exits = files.filter((file) => /\bprocess\.exit\(/.test(readFileSync(file, 'utf8')));
    expect(exits.sort()).toEqual(Object.keys(ALLOWED).sort());
  });
});
