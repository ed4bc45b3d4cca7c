import { follow } from './follow.js';
import { lineOf, post } from './post.js';
import type { ListenOptions } from './options.js';
import { FIRST_PAGE, Service } from './service.js';

/** Reads the feed and posts each event once, until the signal; throws a FatalError if trying again cannot help. */
export async function listen(
  options: ListenOptions,
  print: (line: string) => void,
  stop: AbortSignal,
): Promise<void> {
  const service = await Service.of(options);
  print(`Forwarding the events of ${options.url} to ${options.forward}; Ctrl-C ends.`);
  if (options.isNewSecret) print(`Signing secret: ${options.signingSecret}`);
  await follow(service, {
    page: FIRST_PAGE,
    take: async ({ events }) => {
      for (const event of events) {
        print(lineOf(event, await post(event, { to: options.forward, secret: options.signingSecret, stop })));
      }
    },
    lost: () => {
      print('Events since the last one are not kept any more; going on with what comes from now on.');
      return FIRST_PAGE;
    },
    print,
    stop,
  });
}
