import { SettingsError } from '#platform/config/process-environment.js';
import { connectionProblem } from '#platform/database/connections/connection-problem.js';
import { MigrationLockError } from '#platform/database/migrations/migration-lock.js';

/** Why the service cannot start; the message names the setting. */
export class StartError extends Error {}

// SQLSTATEs of failed authentication, missing databases and missing privileges.
const REFUSED = /^(28...|3D000|42501)$/;

/** The single log line that says why the start failed; `err` only for unexpected errors. */
export function startFailure(error: unknown): { message: string; err?: unknown } {
  if (error instanceof SettingsError || error instanceof StartError || error instanceof MigrationLockError) {
    return { message: inOneLine(error.message) };
  }
  const { code, message, address, port } = error as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (code === 'EADDRINUSE')
    return { message: `PORT: port ${port} of ${address} is already in use (${code})` };
  if (code === 'EACCES')
    return { message: `PORT: this user is not allowed to listen on port ${port} (${code})` };
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return { message: `HOST: this machine has no address ${address ?? 'of that name'} (${code})` };
  const sqlState = String((error as { driverError?: { code?: unknown } }).driverError?.code ?? code);
  if (REFUSED.test(sqlState)) return { message: `DATABASE_URL: ${connectionProblem(error)}: ${message}` };
  return { message: `The service cannot start: ${message}`, err: error };
}

/** A heading and what stands below it, line by line. */
function inOneLine(message: string): string {
  const [heading, ...lines] = message.split(/\s*\n\s*/);
  return lines.length === 0 ? heading! : `${heading} ${lines.join('; ')}`;
}
