import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Event } from './events.js';

/** A partner's server for webhooks, on a loopback port. */
export async function startReceiver() {
  const events: Event[] = [];
  let onEvent = () => {};
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      events.push(JSON.parse(body) as Event);
      response.end('ok', () => onEvent());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** Waits until that many events have arrived, and stops. */
    async received(count: number): Promise<Event[]> {
      await new Promise<void>((resolve) => {
        onEvent = () => {
          if (events.length >= count) resolve();
        };
        onEvent();
      });
      server.close();
      server.closeAllConnections();
      return events;
    },
  };
}
