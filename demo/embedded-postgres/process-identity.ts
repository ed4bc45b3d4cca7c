import { readFile } from 'node:fs/promises';
import { runCommand } from './run-command.js';

/** The identity of a live process on platforms with no cheap way to determine it. */
export const UNKNOWN_IDENTITY = 'unknown';

/** True when a process with this pid exists; a zombie counts as existing. */
export function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Distinguishes two processes that had the same pid: boot id and start time. Undefined if no live process has the pid (a zombie
 * is not live), {@link UNKNOWN_IDENTITY} if it cannot be determined.
 */
export async function processIdentity(pid: number): Promise<string | undefined> {
  if (!pidExists(pid)) return undefined;
  if (process.platform === 'linux') return linuxIdentity(pid);
  if (process.platform === 'win32') return UNKNOWN_IDENTITY;
  const { code, stdout } = await runCommand('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  if (code !== 0) return pidExists(pid) ? UNKNOWN_IDENTITY : undefined;
  const [state = '', ...started] = stdout.trim().split(/\s+/);
  return state.startsWith('Z') ? undefined : started.join(' ');
}

async function linuxIdentity(pid: number): Promise<string | undefined> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The second field is the program name in parentheses, which may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return undefined;
    return `${boot.trim()}:${startTicks}`;
  } catch {
    return pidExists(pid) ? UNKNOWN_IDENTITY : undefined;
  }
}
