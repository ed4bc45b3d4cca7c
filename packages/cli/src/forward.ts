import { Cursor } from './cursor.js';
import { follow, Pauses } from './follow.js';
import type { ForwardOptions } from './options.js';
import { lineOf, post } from './post.js';
import { FatalError, FIRST_PAGE, OLDEST_PAGE, pageAfter, Service, type FeedEvent } from './service.js';

/** Where lines go: events that are written are lost to nobody once the promise resolves. */
export interface Ways {
  write: (text: string) => Promise<void>;
  print: (line: string) => void;
}

/**
 * Reads the feed and passes every event on at least once, in its order, until the signal: to standard output, or to an address that answers
 * with a 2xx. The cursor moves on after that. Throws a FatalError if trying again cannot help.
 */
export async function forward(
  options: ForwardOptions,
  { write, print }: Ways,
  stop: AbortSignal,
): Promise<void> {
  const service = await Service.of(options);
  const cursor = await Cursor.open(options.cursor, options);
  const { to } = options;
  const take = to === undefined ? written(write) : posted(options, to, print, stop);
  print(`Forwarding the events of ${options.url} to ${to ?? 'standard output'}.`);
  await follow(service, {
    page: cursor.after === undefined ? firstPage(options) : pageAfter(cursor.after),
    take: async ({ events, after }) => {
      await take(events, (event) => cursor.moveTo(event.id));
      await cursor.moveTo(after);
    },
    lost: () => {
      throw new FatalError(
        `events after the position in ${options.cursor} are not kept any more, so some may be missing. Remove the file to begin anew (--from).`,
      );
    },
    print,
    stop,
  });
}

type Take = (events: FeedEvent[], done: (event: FeedEvent) => Promise<void>) => Promise<void>;

const firstPage = ({ from }: ForwardOptions): string => (from === 'oldest' ? OLDEST_PAGE : FIRST_PAGE);

/** A page at once: one line for each event. */
const written =
  (write: Ways['write']): Take =>
  async (events) => {
    if (events.length > 0) await write(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  };

/** One after the other, each until it is received. */
const posted =
  ({ signingSecret }: ForwardOptions, to: string, print: Ways['print'], stop: AbortSignal): Take =>
  async (events, done) => {
    const pauses = new Pauses(stop);
    for (const event of events) {
      for (;;) {
        const answer = await post(event, { to, secret: signingSecret, stop });
        print(lineOf(event, answer));
        if (answer.isReceived) break;
        await pauses.wait();
        stop.throwIfAborted();
      }
      pauses.end();
      await done(event);
    }
  };
