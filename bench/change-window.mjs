/**
 * The window of changes (src/platform/database/changes/) beside a Map of the same ids: bytes for each id, and the time of a look-up of
 * one that did not change. After `npm run build`:
 *
 *   node --expose-gc bench/change-window.mjs [--ids 10000000]
 */
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ChangeWindow } from '../dist/src/platform/database/changes/change-window.js';

const { values } = parseArgs({ options: { ids: { type: 'string', default: '10000000' } } });
const most = Number(values.ids);
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const LOOK_UPS = 20_000;

const newId = () => `grnt${Array.from(randomBytes(26), (byte) => LETTERS[byte & 31]).join('')}`;
const memory = () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
const kinds = {
  window: (least) => new ChangeWindow(least),
  Map: () => {
    const changes = new Map();
    return {
      add: (xid, [id]) => changes.set(Buffer.from(id).toString('latin1'), { heard: xid, xid }),
      hasChangedSince: (xid, ids) => ids.some((id) => (changes.get(id)?.xid ?? 0) >= xid),
    };
  },
};

for (const count of [10_000, 200_000, 1_500_000, most]) {
  for (const [name, open] of Object.entries(kinds)) {
    // A Map has room for some 16 million.
    if (name === 'Map' && count > 1_500_000) continue;
    const before = memory();
    const kept = open(count);
    let longest = 0;
    for (let xid = 1; xid <= count; xid++) {
      const id = [newId()];
      const begun = performance.now();
      kept.add(xid, id);
      longest = Math.max(longest, performance.now() - begun);
    }
    const bytes = (memory() - before) / count;
    const ids = Array.from({ length: LOOK_UPS }, () => [newId()]);
    const begun = process.cpuUsage();
    for (let round = 0; round < 20; round++) for (const id of ids) kept.hasChangedSince(1, id);
    const { user, system } = process.cpuUsage(begun);
    const each = (user + system) / LOOK_UPS / 20;
    process.stdout.write(
      `${name} of ${count} ids: ${bytes.toFixed(0)} bytes each, a look-up ${each.toFixed(2)} µs, the longest addition ${longest.toFixed(1)} ms\n`,
    );
  }
}
