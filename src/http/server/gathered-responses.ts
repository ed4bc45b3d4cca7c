import type { FastifyReply } from 'fastify';
import { setImmediate } from 'node:timers';
import { bindLogScope } from '../../telemetry/log-scope.js';

declare module 'fastify' {
  interface FastifyReply {
    /** The response is complete and waits for the end of the turn; then `sent` becomes true. */
    isHeld: boolean;
  }
}

// Limits how long the first response waits.
const AT_MOST = 16;

/** The callback of an `onSend` hook: continues with the payload, or ends with an error. */
type Continue = (error: Error | null, payload?: unknown) => void;

interface Held {
  reply: FastifyReply;
  payload: unknown;
  go: Continue;
}

/**
 * Sends the responses that one turn of the event loop makes together, at its end. Waking a sleeping receiver takes longer than
 * making most responses, and each response sent separately would wake it again (docs/decisions/0028-gathered-responses.md).
 */
export class GatheredResponses {
  private held: Held[] = [];

  /** Continues at the end of the turn, or when 16 wait. */
  hold(reply: FastifyReply, payload: unknown, go: Continue): void {
    reply.isHeld = true;
    const count = this.held.push({ reply, payload, go: bindLogScope(go) });
    if (count === 1) setImmediate(this.release);
    else if (count === AT_MOST) this.release();
  }

  private readonly release = (): void => {
    const { held } = this;
    this.held = [];
    for (const each of held) send(each);
  };
}

/** An error, for example from a malformed header, is answered; it neither ends the process nor delays the others. */
function send({ reply, payload, go }: Held): void {
  reply.isHeld = false;
  try {
    go(null, payload);
  } catch (error) {
    try {
      go(error as Error);
    } catch {
      reply.raw.destroy();
    }
  }
}
