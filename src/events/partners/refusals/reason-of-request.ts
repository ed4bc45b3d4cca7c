import type { ActivityKind } from '#records/activity/activity.js';
import { AUTHORIZATION_ERROR_KINDS, OAUTH_ERROR_KINDS } from '#platform/http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS } from '#platform/http/problems/problem-kinds.js';
import type { RequestRecordEntity } from '#records/requests/request-record.entity.js';
import type { RefusalMessage } from './refusal-message.js';

/** Why a request was refused, and what to do about it. */
export type Reason = Pick<RefusalMessage, 'what' | 'help'>;

const KINDS: Record<string, { cause?: string; explanation?: string; whatToDo: string }> = {
  ...AUTHORIZATION_ERROR_KINDS,
  ...OAUTH_ERROR_KINDS,
  ...PROBLEM_KINDS,
};

/**
 * Why a request was refused: the recorded reason in the words for this reader, otherwise what its error means; undefined if it
 * was served.
 */
export function reasonOf(
  {
    status,
    error,
    refusedKind,
    refused,
  }: Pick<RequestRecordEntity, 'status' | 'error' | 'refusedKind' | 'refused'>,
  messageOf: (kind: ActivityKind, detail: string) => RefusalMessage,
): Reason | undefined {
  if (status < 400) return undefined;
  if (refusedKind !== null && refused !== null) {
    const { what, help } = messageOf(refusedKind, refused);
    if (help !== '') return { what, help };
  }
  const kind = error !== null && Object.hasOwn(KINDS, error) ? KINDS[error]! : undefined;
  if (kind) return { what: (kind.explanation ?? kind.cause)!, help: kind.whatToDo };
  return status < 500
    ? { what: 'The request was refused.', help: 'Its response says why.' }
    : { what: 'The service failed.', help: 'Its log has the error, under the same request ID.' };
}
