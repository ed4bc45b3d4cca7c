import { runCommand, whyFailed, type RunAs } from './run-command.js';

const USER = 'postgres';
const MAKERS: [command: string, args: string[]][] = [
  ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', USER]],
  ['adduser', ['--system', '--group', '--no-create-home', '--disabled-login', USER]],
  ['adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', USER]],
];

/** Whether this process runs as root, which PostgreSQL refuses. */
export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** The OS user `postgres`, created if missing. Throws an Error with the reason if that is impossible. */
export async function ensurePostgresUser(say: (line: string) => void): Promise<RunAs> {
  const present = await findUser();
  if (present) return present;
  say(`PostgreSQL does not run as root: creating the system user "${USER}" for it`);
  const reasons: string[] = [];
  for (const [command, args] of MAKERS) {
    const made = await runCommand(command, args);
    // Looked up even after a failure: another service may have created it at the same time.
    const user = await findUser();
    if (user) return user;
    if (made.code !== 0) reasons.push(`${command}: ${whyFailed(made)}`);
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and the system user "${USER}" could not be created. ` +
      `Start the service as an ordinary user, create that user, or set DATABASE_URL. (${reasons.join('; ')})`,
  );
}

/** Whether that user can actually enter the folder, whatever modes, ACLs and mounts say. */
export async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  const tried = await runCommand('/bin/sh', ['-c', 'cd -- "$1"', 'sh', folder], runAs);
  return tried.code === 0;
}

async function findUser(): Promise<RunAs | undefined> {
  const [user, group] = await Promise.all([runCommand('id', ['-u', USER]), runCommand('id', ['-g', USER])]);
  const [uid, gid] = [Number(user.stdout), Number(group.stdout)];
  if (user.code !== 0 || group.code !== 0 || !(uid > 0) || !(gid >= 0)) return undefined;
  return { uid, gid, name: USER };
}
