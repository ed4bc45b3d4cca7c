import { setTimeout as pause } from 'node:timers/promises';

// It only ends a hang and costs nothing otherwise: far longer than any test waits on a busy machine.
const DEADLINE_MS = 180_000;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 100;

/**
 * Waits until the condition holds, checking it again and again, the longer it takes the less often; throws if it never does. There is
 * no shorter deadline to choose: that something happens soon is proven by the events it precedes.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  for (let pauseMs = FIRST_PAUSE_MS; !(await holds()); pauseMs = Math.min(pauseMs + 1, LONGEST_PAUSE_MS)) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`);
    await pause(pauseMs);
  }
}
