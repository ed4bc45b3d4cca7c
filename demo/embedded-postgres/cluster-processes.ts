import { readFile, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { readPostmasterPid } from './postmaster-pid.js';
import { processIdentity } from './process-identity.js';
import { runCommand } from './run-command.js';

/**
 * The pids of the live PostgreSQL processes of this very cluster. On Linux all of them, found by user, program
 * name and working directory; elsewhere only the server that postmaster.pid names, checked by its command line.
 */
export async function clusterProcesses(cluster: string): Promise<number[]> {
  const folder = await realpath(cluster);
  if (process.platform === 'linux') return linuxProcesses(folder, (await stat(folder)).uid);
  const noted = await readPostmasterPid(cluster);
  if (!noted || (await processIdentity(noted.pid)) === undefined) return [];
  return namesCluster(await commandLine(noted.pid), folder) ? [noted.pid] : [];
}

async function linuxProcesses(folder: string, uid: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const belongs = await Promise.all(pids.map((pid) => isOfCluster(pid, folder, uid)));
  return pids.filter((_, index) => belongs[index]);
}

async function isOfCluster(pid: number, folder: string, uid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  if (!/^Name:\tpostgres$/m.test(status) || /^State:\t[ZX]/m.test(status)) return false;
  if (Number(/^Uid:\t(\d+)/m.exec(status)?.[1] ?? -1) !== uid) return false;
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === folder;
  } catch {
    // Root without CAP_SYS_PTRACE, as in many containers, may not see the working directory of others.
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return namesCluster(line.replaceAll('\0', ' '), folder);
  }
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform !== 'win32') {
    return (await runCommand('ps', ['-ww', '-o', 'command=', '-p', String(pid)])).stdout;
  }
  const query = `(Get-CimInstance Win32_Process -Filter "ProcessId=${pid}").CommandLine`;
  return (await runCommand('powershell', ['-NoProfile', '-Command', query])).stdout;
}

/** Whether a command line is that of a server started by us on this folder. */
function namesCluster(line: string, folder: string): boolean {
  const unquoted = `${line.replaceAll('"', '').trim()} `;
  return /postgres(\.exe)? /.test(unquoted) && unquoted.includes(` -D ${folder} `);
}
