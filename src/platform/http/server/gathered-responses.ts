import type { FastifyInstance, FastifyReply } from 'fastify';
import { finished } from 'node:stream';
import { setImmediate } from 'node:timers';
import { inRequestContext } from './request-context.js';

declare module 'fastify' {
  interface FastifyReply {
    /** The response is complete and waits for the end of the turn; then `sent` becomes true. */
    isHeld: boolean;
    /** What continues once it has been sent. */
    waiting: (() => void)[] | undefined;
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

/** For replies that may be held. */
export function decorateReplies(fastify: FastifyInstance): void {
  fastify.decorateReply('isHeld', false);
  fastify.decorateReply('waiting', undefined);
  fastify.decorateReply('then', thenOf);
}

/**
 * As in Fastify, `await reply` continues once it has been sent; NestJS does so for each request. For a held one Fastify would watch
 * the stream of the response, which keeps everything of the request (docs/decisions/0008-what-a-request-leaves-behind.md).
 */
function thenOf(this: FastifyReply, fulfilled: () => void, rejected: (error: Error) => void): void {
  if (this.sent) fulfilled();
  else if (this.isHeld) (this.waiting ??= []).push(() => this.then(fulfilled, rejected));
  else
    finished(this.raw, (error) =>
      error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE' ? rejected(error) : fulfilled(),
    );
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
    const count = this.held.push({ reply, payload, go });
    if (count === 1) setImmediate(this.release);
    else if (count === AT_MOST) this.release();
  }

  private readonly release = (): void => {
    const { held } = this;
    this.held = [];
    for (const each of held) inRequestContext(each.reply.request, () => send(each));
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
  const { waiting } = reply;
  if (waiting === undefined) return;
  reply.waiting = undefined;
  for (const each of waiting) each();
}
