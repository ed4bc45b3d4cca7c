import { legible } from './legible.js';
import { reasonOf, type FeedEvent } from './service.js';
import { signed } from './signature.js';

// As long as the service itself waits for a partner.
const ANSWER_MS = 15_000;

/** What became of an event. */
export interface Posted {
  /** The status, or why it is missing. */
  outcome: string;
  /** Whether it was a 2xx. */
  isReceived: boolean;
  milliseconds: number;
}

/** Posts an event as the service would deliver it, signed if there is a secret. Redirects are not followed. */
export async function post(
  event: FeedEvent,
  { to, secret, stop }: { to: string; secret: string | undefined; stop: AbortSignal },
): Promise<Posted> {
  const body = JSON.stringify(event);
  const begun = performance.now();
  const took = () => Math.round(performance.now() - begun);
  try {
    const response = await fetch(to, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'charging-data-cli',
        'webhook-event-type': event.type,
        ...(secret === undefined
          ? { 'webhook-id': event.id }
          : signed(secret, event.id, Math.floor(Date.now() / 1000), body)),
      },
    });
    await response.body?.cancel();
    const outcome = `${response.status} ${response.statusText}`.trim();
    return { outcome, isReceived: response.ok, milliseconds: took() };
  } catch (error) {
    stop.throwIfAborted();
    return { outcome: `no answer: ${reasonOf(error)}`, isReceived: false, milliseconds: took() };
  }
}

/** When, what, and what became of it. */
export const lineOf = ({ type, id }: FeedEvent, { outcome, milliseconds }: Posted): string =>
  legible([new Date().toTimeString().slice(0, 8), type, id, outcome, `${milliseconds} ms`].join('  '));
