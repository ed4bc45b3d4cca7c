import { connect } from 'node:net';
import { stopwatch } from '../support/stopwatch.js';
import { until, useService } from '../support/spec.js';

// The limits of the service.
const HEADERS_MS = 10_000;
const REQUEST_MS = 15_000;
const SLOW_CLIENTS = 50;
// A client that had to wait for the slow ones would be served once at most.
const SERVED_MEANWHILE = 5;

/** What a client received until its connection was closed, and its time since then. */
interface Cut {
  text: string;
  age: ReturnType<typeof stopwatch>;
}

describe('clients that send one byte a second', () => {
  const service = useService();

  let [begun, closed] = [0, 0];

  /** Sends the start at once and the rest one byte a second, until the connection is closed; returns what was received, and its age. */
  const trickle = (start: string, rest: string) =>
    new Promise<Cut>((resolve) => {
      let [text, sent] = ['', 0];
      const age = stopwatch();
      const socket = connect(service.settings.port, '127.0.0.1', () => socket.write(start, () => begun++));
      const timer = setInterval(() => socket.write(rest[sent++ % rest.length]!), 1_000);
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        clearInterval(timer);
        closed++;
        resolve({ text, age });
      });
    });

  it('are cut off with 408 within a limit, in the headers and in the body, and delay no other client', async () => {
    const client = await service.make.client();
    await service.make.clientToken(client);
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000';
    const heads = Array.from({ length: SLOW_CLIENTS }, () =>
      trickle('POST /o/token HTTP/1.1\r\nHost: x\r\nX-Slow: ', 'abc'),
    );
    const bodies = Array.from({ length: SLOW_CLIENTS }, () =>
      trickle(`POST /o/token HTTP/1.1\r\nHost: x\r\n${form}\r\n\r\ngrant_type=`, 'client_credentials'),
    );
    await until('all have begun', () => begun === 2 * SLOW_CLIENTS);
    for (let n = 0; n < SERVED_MEANWHILE; n++) {
      const basic = { id: client.id, secret: client.secret };
      expect((await service.http.token({ grant_type: 'client_credentials' }, basic)).status).toBe(200);
    }
    // Those with slow bodies are cut off last.
    expect(closed).toBeLessThan(2 * SLOW_CLIENTS);
    // Each part has its own limit; the body has more time.
    const { headersTimeout, requestTimeout } = service.app.getHttpServer();
    expect([headersTimeout, requestTimeout]).toEqual([HEADERS_MS, REQUEST_MS]);
    const cutOff = (each: Promise<Cut>, limit: number) =>
      each.then(({ text, age }) => {
        age.expectAtLeast(limit);
        expect(text).toMatch(/^HTTP\/1\.1 408 .*\r\n(?:.*\r\n)*content-type: application\/problem\+json/);
      });
    // Each is cut off although it could go on sending for a quarter of an hour.
    await Promise.all([
      ...heads.map((each) => cutOff(each, HEADERS_MS)),
      ...bodies.map((each) => cutOff(each, REQUEST_MS)),
    ]);
    expect(service.log.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
  });
});
