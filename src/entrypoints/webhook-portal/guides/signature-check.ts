import type { Form } from '#platform/http/forms/form.js';
import type { PublishedKey } from '#platform/http/api/published-key.js';
import { Problem } from '#platform/http/problems/problem.js';
import type { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { secondsOf } from '#events/webhooks/deliveries/delivery-attempt.service.js';
import type { DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import {
  verifySignature,
  type SignatureCheck,
  type SignatureHeaders,
} from '#events/webhooks/signing/verify-signature.js';

/** The values of the checker's fields, as typed. */
export interface CheckInput {
  endpoint: string;
  id: string;
  timestamp: string;
  signature: string;
  /** Pasted header lines; the three fields take precedence. */
  headers: string;
  body: string;
}

export const NO_INPUT: CheckInput = {
  endpoint: '',
  id: '',
  timestamp: '',
  signature: '',
  headers: '',
  body: '',
};

/** The request of an attempt of a delivery, by default the last one, as far as its client may see it; not that of a batch. */
export function sentWith(
  { id, endpointId, attemptList, payload }: DeliveryDetail,
  which: number,
): CheckInput {
  const last = attemptList.find(({ number }) => number === which) ?? attemptList.at(-1);
  if (!last || last.batch || payload === null) return { ...NO_INPUT, endpoint: endpointId };
  const timestamp = String(secondsOf(last.attemptedAt));
  return { ...NO_INPUT, endpoint: endpointId, id, timestamp, signature: last.signature, body: payload };
}

const HEADER_NAMES = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' };

export const typedIn = (form: Form): CheckInput => ({
  endpoint: form.get('endpoint') ?? '',
  id: form.get('webhook-id') ?? '',
  timestamp: form.get('webhook-timestamp') ?? '',
  signature: form.get('webhook-signature') ?? '',
  headers: form.get('headers') ?? '',
  body: form.get('body') ?? '',
});

/** The three headers: from their fields, otherwise from the pasted lines (`name: value`). */
export function headersIn(input: CheckInput): SignatureHeaders {
  const pasted = new Map<string, string>();
  for (const line of input.headers.split(/\r?\n/)) {
    // With "> " in front, as curl prints it, or as other tools copy it.
    const [, name, value] = /^[\s>]*([A-Za-z0-9-]+)\s*:\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined) pasted.set(name.toLowerCase(), value!);
  }
  return Object.fromEntries(
    Object.entries(HEADER_NAMES).map(([field, name]) => [
      name,
      input[field as keyof typeof HEADER_NAMES].trim() || pasted.get(name),
    ]),
  );
}

/** How a pasted body can differ from the sent one and still be recognized. */
type BodyDifference = 'line_ends' | 'blanks_around' | 'written_again';

export type CheckResult = SignatureCheck & { difference?: BodyDifference };

/** What signs for an endpoint now. */
export interface VerifyingKeys {
  secrets: readonly string[];
  publicKeys: readonly PublishedKey[];
}

/**
 * Whether they match. A form sends every line break as CR LF, and pasting adds spaces: a body that matches without them counts as
 * a match. JSON that only matches after serializing it again does not: that is the usual mistake.
 */
export function checkSignature(
  { secrets, publicKeys }: VerifyingKeys,
  headers: SignatureHeaders,
  body: string,
): CheckResult {
  const check = (text: string) => verifySignature(secrets, headers, text, Date.now(), publicKeys);
  const lines = body.replaceAll('\r\n', '\n');
  const first = check(body);
  if (first.matches || first.problem !== 'no_match') return first;
  for (const [variant, difference] of [
    [lines, 'line_ends'],
    [lines.trim(), 'blanks_around'],
  ] as const) {
    const found = check(variant);
    if (found.matches) return { ...found, difference };
  }
  const again = writtenAgain(body);
  if (again !== undefined && check(again).matches) {
    return { ...first, difference: 'written_again' };
  }
  return first;
}

function writtenAgain(body: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return undefined;
  }
}

/** The delivery named by the headers, if it belongs to the client. */
export async function deliveryNamed(
  deliveries: DeliveriesService,
  headers: SignatureHeaders,
  clientId: string,
): Promise<DeliveryDetail | undefined> {
  try {
    return await deliveries.get(headers['webhook-id'] ?? '', clientId);
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
}
