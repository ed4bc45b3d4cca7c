import { readFile } from 'node:fs/promises';

/** What work costs this process, in milliseconds of the processor: a busy machine adds nothing to it, as it does to the time. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The processor's time that another process has used so far, in milliseconds; the kernel counts it in hundredths of a second. */
export async function processorTimeOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold anything; utime and stime are the 12th and 13th after it.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}
