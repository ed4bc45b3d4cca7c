/** The processor milliseconds that work costs this process: unlike elapsed time, they do not grow on a busy machine. */
export function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
