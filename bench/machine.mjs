import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';

// The unit of processor time in /proc: 100 a second on every Linux that Node.js runs on.
const TICK_MS = 10;

/** The cores: the server has one of its own; the load and PostgreSQL share the other. */
export const CORES = { server: 0, load: 1 };

// Before this process is pinned to a single core.
const CORE_COUNT = availableParallelism();

/** Whether processes can be pinned as intended; if not, `why` gives the reason as a sentence. */
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

/** Pins this process with all its threads, and thereby every process that it starts from now on. */
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
  // The name in brackets may contain any character; utime and stime are the 12th and 13th fields after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The same of a process with all its children, also those that have ended: of PostgreSQL, from the process that began it. */
export function familyMs(pid) {
  let sum = 0;
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = read(`/proc/${name}/stat`);
    if (stat === undefined) continue;
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const isFirst = Number(name) === pid;
    if (!isFirst && fields[1] !== pid) continue;
    // utime, stime; of the first also cutime and cstime, which are of children that have ended.
    for (const time of fields.slice(11, isFirst ? 15 : 13)) sum += time * TICK_MS;
  }
  return sum;
}

/** How long a core has been busy since the machine started, with any process, in milliseconds. */
export function busyMs(core) {
  const line = new RegExp(`^cpu${core} (.+)$`, 'm').exec(read('/proc/stat') ?? '')?.[1];
  if (line === undefined) return NaN;
  // user, nice, system, idle, iowait, irq, softirq, steal
  const [user, nice, system, , , irq, softirq, steal] = line.split(' ').map(Number);
  return (user + nice + system + irq + softirq + steal) * TICK_MS;
}

/** The peak memory of a process since `forgetPeak`, in MB. */
export function peakMemoryMb(pid) {
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '');
  return found ? Number(found[1]) / 1024 : NaN;
}

/** Resets the peak memory of a process. */
export function forgetPeak(pid) {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {
    // Without the reset, the peak counts from the start of the process: it can only be higher.
  }
}

/** One line about the machine, and whether other processes are using it. */
export function machine() {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB of memory`;
  const [load] = loadavg();
  const busy = load > 0.5 * CORE_COUNT ? ' (**other processes were using it**)' : '';
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
