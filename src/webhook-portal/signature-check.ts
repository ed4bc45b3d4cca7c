import type { Form } from '../http/form.js';
import { Problem } from '../http/problem.js';
import type { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import type { DeliveryDetail } from '../webhooks/deliveries/delivery.js';
import {
  verifySignature,
  type SignatureCheck,
  type SignatureHeaders,
} from '../webhooks/signing/verify-signature.js';

/** What stands in the fields of the checker, as it was typed. */
export interface CheckInput {
  endpoint: string;
  id: string;
  timestamp: string;
  signature: string;
  /** Header lines as they were pasted; the three fields win. */
  headers: string;
  body: string;
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

/** The three headers: from their fields, and what is not there from the pasted lines (`name: value`). */
export function headersIn(input: CheckInput): SignatureHeaders {
  const pasted = new Map<string, string>();
  for (const line of input.headers.split(/\r?\n/)) {
    // As curl prints it, with "> " before it, or as a tool copies it.
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

/** How a body that was pasted can differ from the one that came, and still be told. */
export type BodyDifference = 'line_ends' | 'blanks_around' | 'written_again';

export type CheckResult = SignatureCheck & { difference?: BodyDifference };

/**
 * Whether they match. A form writes every line end as CR LF, and a paste brings blanks along: a body that matches without
 * them counts. JSON that matches only when it is written anew does not: that is the usual mistake.
 */
export function checkSignature(secrets: string[], headers: SignatureHeaders, body: string): CheckResult {
  const lines = body.replaceAll('\r\n', '\n');
  const first = verifySignature(secrets, headers, body);
  if (first.matches || first.problem !== 'no_match') return first;
  for (const [variant, difference] of [
    [lines, 'line_ends'],
    [lines.trim(), 'blanks_around'],
  ] as const) {
    const check = verifySignature(secrets, headers, variant);
    if (check.matches) return { ...check, difference };
  }
  const again = writtenAgain(body);
  if (again !== undefined && verifySignature(secrets, headers, again).matches) {
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

/** What we know of the delivery that the headers name, if it is the client's. */
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
