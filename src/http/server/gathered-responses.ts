import type { FastifyReply } from 'fastify';
import { setImmediate } from 'node:timers';
import { bindLogScope } from '../../telemetry/log-scope.js';

declare module 'fastify' {
  interface FastifyReply {
    /** The response is made, and waits for the end of the turn. `sent` becomes true after that. */
    isHeld: boolean;
  }
}

// So that the first response does not wait for more work than this.
const AT_MOST = 16;

/** The callback of an `onSend` hook: continues with the payload, or ends with an error. */
type Continue = (error: Error | null, payload?: unknown) => void;

interface Held {
  reply: FastifyReply;
  payload: unknown;
  go: Continue;
}

/**
 * Sends the responses that one turn of the event loop makes together, at its end. A response wakes its receiver if that sleeps, which
 * takes longer than making most responses: one after another, each would wake it (docs/decisions/0028-gathered-responses.md).
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

/** An error, such as that of a malformed header, is answered; it neither ends the process nor holds up the others. */
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
