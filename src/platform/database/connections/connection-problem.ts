import type { Socket } from 'node:net';
import type { Client } from 'pg';

interface Failure {
  code?: unknown;
  message?: unknown;
}

// Why a connection was refused, by SQLSTATE and by error codes of TLS and DNS.
const REASONS: [RegExp, string][] = [
  [/^28/, 'the database rejected the user or password'],
  [/^3D000$/, 'the server has no database of that name'],
  [/^08P01$/, 'something in between does not speak the PostgreSQL protocol'],
  [/^42501$/, 'the user lacks a privilege in the database'],
  [
    /^25006$/,
    'no server accepts writes: it is a standby that was not promoted, or default_transaction_read_only is on',
  ],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'the certificate of the server is for another name'],
  [
    /CERT|SELF_SIGNED|ISSUER|SIGNATURE/,
    'the certificate of the server is not trusted; set sslrootcert to the file of its CA',
  ],
  [/^ENOTFOUND$/, 'the host name could not be resolved'],
];
const NO_TLS = /does not support SSL/;

// Failures that can end without a change of settings: the server is not there yet, is starting or full; its name does not resolve
// yet; a standby is not promoted yet.
const PASSING =
  /^(08(?!P01)...|57P0[1-5]|53...|55000|25006|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENOENT)$/;
const PASSING_MESSAGES = /Connection terminated|timeout|timed out|Client has encountered a connection error/;

const failureOf = (error: unknown): { code: string; message: string } => {
  const outer = (error ?? {}) as Failure & { driverError?: Failure; errors?: Failure[] };
  // A host name with several addresses fails with one error for each.
  const inner = outer.driverError ?? outer.errors?.[0] ?? outer;
  return { code: String(inner.code ?? ''), message: String(inner.message ?? '') };
};

/** Whether a retry a moment later may succeed after this error. */
export function isPassing(error: unknown): boolean {
  const { code, message } = failureOf(error);
  return PASSING.test(code) || (code === '' && PASSING_MESSAGES.test(message));
}

/** Why a connection failed, without anything from the URL, and with the error code. */
export function connectionProblem(error: unknown): string {
  const { code, message } = failureOf(error);
  if (NO_TLS.test(message)) return 'the server does not support TLS, which sslmode in the URL requires';
  const reason = REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'the database does not respond';
  return code ? `${reason} (${code})` : reason;
}

/** The socket of a connection: pg itself cannot close one without waiting for the other side. */
export const socketOf = (connection: Client): Socket =>
  (connection as unknown as { connection: { stream: Socket } }).connection.stream;

/** Sends the end message and closes a connection, without waiting for the other side, which may not respond. */
export function closeAtOnce(connection: Client): void {
  connection.end().catch(() => undefined);
  socketOf(connection).destroySoon();
}
