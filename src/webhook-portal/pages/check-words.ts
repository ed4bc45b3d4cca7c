import type { DeliveryDetail } from '../../webhooks/deliveries/delivery.js';
import type { SignatureProblem, TimestampWarning } from '../../webhooks/signing/verify-signature.js';
import type { CheckInput, CheckResult } from '../signature-check.js';

const PROBLEMS: Record<SignatureProblem, string> = {
  missing_id: 'The header webhook-id is missing. It begins with dlvr.',
  missing_timestamp: 'The header webhook-timestamp is missing. It is a number of seconds since 1970.',
  missing_signature: 'The header webhook-signature is missing. It begins with v1,.',
  malformed_timestamp: 'The header webhook-timestamp is not a number of seconds since 1970.',
  malformed_signature:
    'The header webhook-signature holds no complete signature. Each is v1, and 44 characters of base64, with a space between two of them.',
  no_match:
    'No signature in the header was made with a secret of this endpoint for this id, timestamp and body.',
};

const WARNINGS: Record<TimestampWarning, string> = {
  timestamp_too_old:
    'The timestamp is more than five minutes old. A receiver refuses that at once, so that nobody can repeat an old request; here it is let through.',
  timestamp_too_new:
    'The timestamp is more than five minutes ahead. A receiver refuses that: if it came like this, the clock of your server is wrong.',
};

const HELPED = {
  line_ends: 'The line ends of the body were taken as LF, since a form in a browser changes them.',
  blanks_around: 'Blanks and line ends around the body were left out; a receiver must not add or remove any.',
};

/** What came of a check, in sentences: the first is the answer. */
export function checkWords(result: CheckResult, input: CheckInput, delivery?: DeliveryDetail): string[] {
  const warning = result.warning ? [WARNINGS[result.warning]] : [];
  if (result.matches) {
    const { difference } = result;
    const helped = difference && difference !== 'written_again' ? [HELPED[difference]] : [];
    return ['They match: the request came from us and was not changed.', ...helped, ...warning];
  }
  return [
    PROBLEMS[result.problem],
    ...(result.problem === 'no_match' ? causes(result, input, delivery) : []),
    ...warning,
  ];
}

function causes(result: CheckResult, input: CheckInput, delivery?: DeliveryDetail): string[] {
  if (result.difference === 'written_again') {
    return [
      'It would match if the body stood in one line as we sent it: it was parsed and written again. Verify the bytes of the body as they came, before any JSON parser.',
    ];
  }
  if (delivery && delivery.endpointId !== input.endpoint) {
    return [
      `The delivery ${delivery.id} went to another endpoint: ${delivery.endpointUrl}. Each has its own secret.`,
    ];
  }
  if (delivery && delivery.payload !== input.body.replaceAll('\r\n', '\n').trim()) {
    return [
      `The body is not the one that we sent with ${delivery.id}. Verify the bytes of the body as they came, before any JSON parser.`,
    ];
  }
  if (delivery) {
    return [
      'The body is the one that we sent. So the timestamp or the signature is of another attempt, or the secret was rotated more than 24 hours ago.',
    ];
  }
  return [
    'Usual causes: the secret of another endpoint; a body that was parsed and written again; headers of one request with the body of another; a secret that was rotated more than 24 hours ago.',
  ];
}
