import { setTimeout as pause } from 'node:timers/promises';
import { peakMemoryMb, processorMs } from './machine.mjs';

// For most of a minute V8 still collects and compiles what the start left behind: four times the later load.
const SETTLE_MS = 60_000;
const WATCHED_MS = 30_000;

/** The share of a core, in per cent, that an instance without requests uses. */
export async function idleShare({ pid }, quick) {
  await pause(quick ? 500 : SETTLE_MS);
  const before = processorMs(pid);
  const begun = performance.now();
  await pause(quick ? 1_000 : WATCHED_MS);
  return ((processorMs(pid) - before) / (performance.now() - begun)) * 100;
}

const POLL_MS = 5;
const MOST_CHANGES = 200_000;
const QUICK_CHANGES = 2_000;

/**
 * The time of a start, in milliseconds from the command, first without changes in the window, then with as many as memory holds,
 * each from a transaction of its own: until the instance is ready, and until it relies on its cache.
 */
export async function startTimes(stand, { quick }) {
  const changes = quick ? QUICK_CHANGES : MOST_CHANGES;
  const without = await startOnce(stand, () => undefined);
  const beside = await startOnce(stand, async ({ query }) => {
    await query(
      `INSERT INTO access_changes (ids) SELECT ARRAY['a change before the start ' || n] FROM generate_series(1, $1::int) n`,
      [changes],
    );
    await query('VACUUM ANALYZE access_changes');
  });
  await stand.restartService(({ query }) =>
    query("DELETE FROM access_changes WHERE ids[1] LIKE 'a change before%'"),
  );
  return { changes, without, beside };
}

async function startOnce(stand, before) {
  let begun = 0;
  await stand.restartService(async (database) => {
    await before(database);
    begun = performance.now();
  });
  const ready = Math.round(performance.now() - begun);
  const headers = { authorization: `Bearer ${stand.setting.clientTokens[0].ours}` };
  for (;;) {
    // An instance without requests does not need its cache: it reads the changes only while requests arrive.
    await (await fetch(`${stand.service.url}/v2/users`, { headers })).arrayBuffer();
    const metrics = await (await fetch(`${stand.service.url}/metrics`)).text();
    if (/^access_changes_trusted 1$/m.test(metrics)) break;
    await pause(POLL_MS);
  }
  return { ready, trusted: Math.round(performance.now() - begun), memory: peakMemoryMb(stand.service.pid) };
}
