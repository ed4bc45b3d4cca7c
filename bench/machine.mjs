import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

// What /proc counts processor time in: 100 a second on every Linux that Node.js runs on.
const TICK_MS = 10;

/** Which core is whose: the server has one alone, the load and PostgreSQL share the other. */
export const CORES = { server: 0, load: 1 };

// Before this process is pinned, which leaves it one.
const CORE_COUNT = availableParallelism();

/** Whether processes can be pinned as they should; where not, `why` says so in plain words. */
export const PINNING = findPinning();

function findPinning() {
  if (process.platform !== 'linux') {
    return {
      possible: false,
      why: 'this is not Linux: nothing is pinned, and no processor time is measured',
    };
  }
  if (CORE_COUNT < 2) {
    return {
      possible: false,
      why: 'there are fewer than 2 cores: the server shares one with the load and PostgreSQL',
    };
  }
  try {
    execFileSync('taskset', ['-c', String(CORES.server), 'true']);
    execFileSync('taskset', ['-c', String(CORES.load), 'true']);
    return { possible: true };
  } catch {
    return { possible: false, why: 'taskset cannot pin to the cores 0 and 1: nothing is pinned' };
  }
}

/** Pins this process, all its threads, and with them whatever it starts from now on. */
export function pinSelf(core) {
  execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)]);
}

/** The command that runs a program on one core. */
export function pinned(core, command, args) {
  return PINNING.possible ? ['taskset', ['-c', String(core), command, ...args]] : [command, args];
}

/** Processor time of a process and its threads so far, in milliseconds; NaN where there is no /proc. */
export function processorMs(pid) {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return NaN;
  // The name in brackets may hold anything; utime and stime are the 12th and 13th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** How long a core has been busy since the machine started, with whatever it was, in milliseconds. */
export function busyMs(core) {
  const line = new RegExp(`^cpu${core} (.+)$`, 'm').exec(read('/proc/stat') ?? '')?.[1];
  if (line === undefined) return NaN;
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [user, nice, system, , , irq, softirq, steal] = line.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

/** The most memory that a process had since `forgetPeak`, in MB. */
export function peakMemoryMb(pid) {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return found ? Number(found[1]) / 1024 : NaN;
}

/** Begins to look for the most memory anew. */
export function forgetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without it the peak is the one since the start of the process: more, never less.
  }
}

/** One line about the machine, and whether others are using it. */
export function machine() {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB of memory`;
  const [load] = loadavg();
  const busy = load > 0.5 * CORE_COUNT ? ' (**others were using it**)' : '';
  return (
    `${first?.model.trim()}, ${CORE_COUNT} cores, ${memory}, ${type()} ${release()}, Node.js ${process.version}; ` +
    `load average at the start ${load.toFixed(2)}${busy}`
  );
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
