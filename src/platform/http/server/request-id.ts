import type { IncomingMessage } from 'node:http';
import { newUlid } from '#platform/secrets/ids.js';

// A secret of ours that someone sends here by mistake must not reach the logs.
const SANE = /^(?!cds_)[A-Za-z0-9._-]{1,128}$/;

/** The caller's X-Request-Id if it is valid, otherwise a new ULID. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : newUlid();
}
