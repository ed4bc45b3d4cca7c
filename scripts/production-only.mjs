// Removes from node_modules what production does not need: npm run production-only, after npm ci has built. With --dry-run it
// only prints what it would remove.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';

const isDryRun = process.argv.includes('--dry-run');
const { status } = spawnSync(
  'npm',
  ['prune', '--omit=dev', '--omit=peer', '--ignore-scripts', ...(isDryRun ? ['--dry-run'] : [])],
  { stdio: 'inherit', shell: process.platform === 'win32' },
);
// npm keeps it for a plugin of @nestjs/swagger that runs during compilation.
const leftover = new URL('../node_modules/typescript', import.meta.url);
if (isDryRun) process.stdout.write('remove typescript\n');
else rmSync(leftover, { recursive: true, force: true });
process.exitCode = status ?? 1;
