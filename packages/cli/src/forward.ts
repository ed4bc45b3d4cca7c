import { reasonOf, type FeedEvent } from './service.js';
import { signed } from './signature.js';

// As long as the service itself waits for a partner.
const ANSWER_MS = 15_000;

/** What became of an event. */
export interface Forwarded {
  /** The status, or why it is missing. */
  outcome: string;
  milliseconds: number;
}

/** Posts an event as the service would deliver it, signed. Redirects are not followed. */
export async function forward(
  event: FeedEvent,
  { to, secret, stop }: { to: string; secret: string; stop: AbortSignal },
): Promise<Forwarded> {
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
        ...signed(secret, event.id, Math.floor(Date.now() / 1000), body),
      },
    });
    await response.body?.cancel();
    return { outcome: `${response.status} ${response.statusText}`.trim(), milliseconds: took() };
  } catch (error) {
    stop.throwIfAborted();
    return { outcome: `no answer: ${reasonOf(error)}`, milliseconds: took() };
  }
}
