import { readFile } from 'node:fs/promises';

/** The processor milliseconds that work costs this process: unlike elapsed time, they do not grow on a busy machine. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The processor milliseconds that another process has used so far; the kernel counts in hundredths of a second. */
export async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may contain any character; utime and stime are the 12th and 13th fields after it.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}
