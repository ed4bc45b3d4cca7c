import { setTimeout as pause } from 'node:timers/promises';

/** Waits until something holds, looking again and again; throws when it does not within the deadline. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  deadlineMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited too long until ${what}`);
    await pause(20);
  }
}
