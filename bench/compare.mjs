/**
 * Compares two builds, this one and another checkout of the service. After `npm run build` in both checkouts:
 *
 *   node bench/compare.mjs ../other-checkout [--only W1,W2,W2b] [--rounds 10]
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startService } from './servers.mjs';
import { takeTurns } from './take-turns.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '10' } },
});
if (positionals.length !== 1) throw new Error('Specify the folder of the other checkout.');
const other = path.resolve(positionals[0]);
// Before this process is pinned: the module of the other checkout detects the cores too.
const starts = { this: startService, other: (await import(`${other}/bench/servers.mjs`)).startService };
await takeTurns({ starts, ...values });
