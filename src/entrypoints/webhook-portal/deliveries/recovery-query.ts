import { DAY_MS } from '#platform/config/durations.js';
import type { Form } from '#platform/http/forms/form.js';
import { readUtcRange, utcFieldValue } from '#platform/web/forms/utc-time.js';

interface RecoveryInput {
  from: string;
  to: string;
}

/** The times of a recovery as typed, their meaning, and their errors. */
export interface RecoveryQuery {
  input: RecoveryInput;
  range?: { from: Date; to: Date };
  errors: Partial<RecoveryInput>;
}

const SECOND_MS = 1000;

/**
 * Parses the two times, between which deliveries were created; without both, those of what can have failed in the last 24 hours:
 * `retriedForMs` is how long a delivery is retried before.
 */
export function readRecoveryQuery(form: Form, now: Date, retriedForMs: number): RecoveryQuery {
  const isGiven = form.get('from') !== undefined || form.get('to') !== undefined;
  // Rounded up to a whole second in the future, so that the latest failures are included.
  const soon = new Date(Math.ceil(now.getTime() / SECOND_MS + 1) * SECOND_MS);
  const input = isGiven
    ? { from: form.get('from') ?? '', to: form.get('to') ?? '' }
    : {
        from: utcFieldValue(new Date(soon.getTime() - DAY_MS - retriedForMs)),
        to: utcFieldValue(soon),
      };
  const { from, to, errors } = readUtcRange(input, true);
  return from && to && from < to ? { input, range: { from, to }, errors } : { input, errors };
}
