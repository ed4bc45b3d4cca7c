import { setTimeout as pause } from 'node:timers/promises';

// It only ends a hang, and costs nothing where there is none: far from what any test waits on a machine that is busy with others.
const DEADLINE_MS = 180_000;

/**
 * Waits until something holds, looking again and again; throws when it never does. There is no shorter deadline to choose:
 * that something happens soon is said by what it happens before.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`);
    await pause(20);
  }
}
