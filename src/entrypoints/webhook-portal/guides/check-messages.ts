import type { DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import type { SignatureProblem, TimestampWarning } from '#events/webhooks/signing/verify-signature.js';
import type { CheckInput, CheckResult } from './signature-check.js';

const PROBLEMS: Record<SignatureProblem, string> = {
  missing_id: 'The header webhook-id is missing. It begins with dlvr.',
  missing_timestamp: 'The header webhook-timestamp is missing. It is a number of seconds since 1970.',
  missing_signature: 'The header webhook-signature is missing. It begins with v1,.',
  malformed_timestamp: 'The header webhook-timestamp is not a number of seconds since 1970.',
  malformed_signature:
    'The header webhook-signature contains no complete signature. Each is “v1,” followed by 44 base64 characters; several are separated by spaces.',
  no_match:
    'No signature in the header was made with a secret of this endpoint for this id, timestamp and body.',
};

const WARNINGS: Record<TimestampWarning, string> = {
  timestamp_too_old:
    'The timestamp is more than five minutes old. Receivers reject it so that old requests cannot be replayed; this check accepts it.',
  timestamp_too_new:
    'The timestamp is more than five minutes ahead. Receivers reject it. If you received it like this, the clock of your server is wrong.',
};

const HELPED = {
  line_ends: 'The line ends of the body were read as LF, because browser forms change them.',
  blanks_around: 'Whitespace around the body was ignored; a receiver must not add or remove any.',
};

/** The result of a check in sentences; the first one is the verdict. */
export function checkMessages(result: CheckResult, input: CheckInput, delivery?: DeliveryDetail): string[] {
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
      'It would match if the body were on one line, as we sent it: it was parsed and serialized again. Verify the raw bytes of the body, before any JSON parser.',
    ];
  }
  if (delivery && delivery.endpointId !== input.endpoint) {
    return [
      `The delivery ${delivery.id} went to another endpoint: ${delivery.endpointUrl}. Each has its own secret.`,
    ];
  }
  // A payload that the client may not see is not compared, because comparing would confirm guesses.
  if (!delivery || delivery.payload === null) return [USUAL_CAUSES];
  if (delivery.payload !== input.body.replaceAll('\r\n', '\n').trim()) {
    return [
      `The body is not the one that we sent with ${delivery.id}. Verify the raw bytes of the body, before any JSON parser.`,
    ];
  }
  return [
    'The body is the one that we sent. So the timestamp or the signature belongs to another attempt, or the secret was rotated more than 24 hours ago.',
  ];
}

const USUAL_CAUSES =
  'Usual causes: the secret of another endpoint; a body that was parsed and serialized again; headers of one request with the body of another; a secret that was rotated more than 24 hours ago.';
