import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { FLOOR_SEARCH_PATH } from './floor-tables.mjs';
import { CONNECTIONS } from './load.mjs';
import { CORES, pinned } from './machine.mjs';
import { STATEMENTS } from './statements.mjs';

const run = promisify(execFile);

// The expressions that the scripts use in place of the parameters.
export const CLIENT_ID = `'clnt' || lpad(:c::text, 26, '0')`;
export const NEW_DIGEST = 'sha256(gen_random_uuid()::text::bytea)';
// pgbench takes whatever follows a colon as a variable, even inside quotes.
export const SCOPES_SQL = `ARRAY['charging_session' || chr(58) || 'read', 'vehicle' || chr(58) || 'read']`;

export const NAMED_CLIENT_TOKEN = `sha256(('client-' || :c::text)::bytea)`;

/** One token of each client, with a name that pgbench can compute. */
export const nameClientTokens = ({ query }) =>
  query(
    `INSERT INTO floor.access_tokens (digest, client_id, scopes, expires_at)
     SELECT sha256(('client-' || n)::bytea), 'clnt' || lpad(n::text, 26, '0'), '{vehicle:read}', now() + interval '10 hours'
       FROM generate_series(1, 20) n ON CONFLICT DO NOTHING`,
  );

// Per connection, where less than a second is requested.
const TRANSACTIONS = 20;

/** The version of pgbench, or undefined where it is not installed. */
export async function findPgbench() {
  try {
    return (await run('pgbench', ['--version'])).stdout.trim();
  } catch {
    return undefined;
  }
}

/** pgbench's time includes connecting: such a short one could be over before the first transaction. */
const amount = (seconds) => (seconds < 1 ? ['-t', String(TRANSACTIONS)] : ['-T', String(Math.ceil(seconds))]);

let runs = 0;

/** Transactions per second of the same statements without a server in between: the speed of only the database. */
export async function runPgbench({ workload, database, setting, seconds }) {
  const name = `pgbench${++runs}`;
  await workload.pgbench.setup?.(database, setting, name, Math.ceil(seconds));
  const file = path.join(database.folder, `${name}.sql`);
  await writeFile(file, `${workload.pgbench.script({ say, run: name, setting }).join('\n')}\n`);
  const { username, password, hostname, port, pathname } = new URL(database.url);
  const [command, args] = pinned(CORES.load, 'pgbench', [
    ...['-n', '-M', 'prepared', '-c', String(CONNECTIONS), '-j', '1', ...amount(seconds), '-f', file],
    ...['-D', 'k=0', '-h', hostname, '-p', port, '-U', username, pathname.slice(1)],
  ]);
  const env = {
    PATH: process.env.PATH,
    PGPASSWORD: decodeURIComponent(password),
    PGOPTIONS: FLOOR_SEARCH_PATH,
  };
  const { stdout } = await run(command, args, { env }).catch(({ stderr }) => {
    throw new Error(
      `pgbench failed for ${workload.id}: ${stderr.split('\n').find((line) => line.includes('rror'))}`,
    );
  });
  const failed = /number of failed transactions: (\d+)/.exec(stdout)?.[1] ?? '0';
  const rate = Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
  if (failed !== '0' || !(rate > 0)) throw new Error(`pgbench failed for ${workload.id}:\n${stdout}`);
  return { rate };
}

/** One of the floor's statements with expressions in place of its parameters, on one line. */
function say(name, ...expressions) {
  const text = STATEMENTS[name].replace(/\$(\d)/g, (_, n) => expressions[n - 1]);
  return `${text.replace(/\s+/g, ' ')};`;
}
