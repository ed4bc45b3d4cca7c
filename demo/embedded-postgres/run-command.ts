import { spawn } from 'node:child_process';
import path from 'node:path';

/** The OS user that a command runs as; by default the user of this process. */
export interface RunAs {
  uid: number;
  gid: number;
  name: string;
}

export interface CommandResult {
  /** The exit code; null if a signal or a failed start ended the command. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The last 16 KiB of standard output, and of standard error. */
  stdout: string;
  stderr: string;
  /** Set if the command could not be started at all. */
  startError?: NodeJS.ErrnoException;
}

const OUTPUT_LIMIT = 16 * 1024;
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR'];

/**
 * The environment for PostgreSQL's programs: an allow-list, because PG* variables would change their behaviour, and another OS
 * user must not see the service's secrets.
 */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  const environment: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' };
  for (const name of PASSED_ON) {
    if (process.env[name] !== undefined) environment[name] = process.env[name];
  }
  return environment;
}

/** The uid and gid in the format of spawn. */
export function spawnIds(runAs: RunAs | undefined): { uid?: number; gid?: number } {
  return runAs ? { uid: runAs.uid, gid: runAs.gid } : {};
}

/** A folder that every user can enter: a child with another uid may not be allowed into ours. */
export function neutralFolder(): string {
  return path.parse(process.execPath).root;
}

/** Runs a short command to its end. Never rejects: a failed start is returned in `startError`. */
export function runCommand(command: string, args: string[], runAs?: RunAs): Promise<CommandResult> {
  return new Promise((resolve) => {
    const result: CommandResult = { code: null, signal: null, stdout: '', stderr: '' };
    const fail = (error: NodeJS.ErrnoException) => resolve({ ...result, startError: error });
    try {
      const child = spawn(command, args, {
        ...spawnIds(runAs),
        cwd: neutralFolder(),
        env: postgresEnvironment(),
        stdio: ['ignore', 'pipe', 'pipe'],
        windowsHide: true,
      });
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        result.stdout = (result.stdout + text).slice(-OUTPUT_LIMIT);
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        result.stderr = (result.stderr + text).slice(-OUTPUT_LIMIT);
      });
      child.once('error', fail);
      child.once('close', (code, signal) => resolve({ ...result, code, signal }));
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
    }
  });
}

/** Why a command failed: the start error, or its last lines of output. */
export function whyFailed(result: CommandResult): string {
  if (result.startError) return result.startError.message;
  const said = lastLines(result.stderr.trim() || result.stdout.trim());
  return said || `ended with ${result.signal ? `signal ${result.signal}` : `code ${result.code}`}`;
}

/** The last `count` lines of a text. */
export function lastLines(text: string, count = 15): string {
  return text.trimEnd().split(/\r?\n/).slice(-count).join('\n');
}
