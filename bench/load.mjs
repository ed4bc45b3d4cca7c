import { connect } from 'node:net';

/** The number of connections, each with one request at a time. */
export const CONNECTIONS = 32;

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/**
 * Starts to load a server over persistent connections. `connectionOf(n)` returns what the nth connection sends: `request()` is
 * the text of the next request, and `check(status, body)` checks the response and throws if it is wrong, which ends the load.
 * After `stop()`, or after the given seconds, requests under way are finished and still counted. `done` resolves to the start time,
 * the duration in milliseconds, the end of each request, the sorted latencies, and the processor milliseconds of the load itself.
 */
export async function startLoad({ port, seconds = Infinity, connectionOf, connections = CONNECTIONS }) {
  const all = Array.from({ length: connections }, (_, n) => new Connection(port, connectionOf(n)));
  const close = () => all.forEach((each) => each.close());
  try {
    await Promise.all(all.map((each) => each.opened));
  } catch (error) {
    close();
    throw error;
  }
  const run = async () => {
    const before = process.cpuUsage();
    const begun = performance.now();
    await Promise.all(all.map((each) => each.run(begun + seconds * 1000)));
    const milliseconds = performance.now() - begun;
    const { user, system } = process.cpuUsage(before);
    const latencies = Float64Array.from(all.flatMap((each) => each.latencies)).sort();
    const ends = all.flatMap((each) => each.ends);
    return { begun, milliseconds, requests: ends.length, ends, latencies, ownMs: (user + system) / 1000 };
  };
  return { done: run().finally(close), stop: () => all.forEach((each) => (each.until = 0)) };
}

/** Loads a server for the given seconds. */
export async function runLoad(options) {
  return (await startLoad(options)).done;
}

/** A small HTTP/1.1 client for responses with a content length: it costs the same for every server measured. */
class Connection {
  latencies = [];
  ends = [];
  #received = '';
  #over = false;

  constructor(port, source) {
    this.source = source;
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.opened = new Promise((resolve, reject) => {
      this.socket.once('connect', resolve);
      this.socket.once('error', reject);
    });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text) => this.#take(text));
    this.socket.on('error', (error) => this.#fail?.(error));
    this.socket.on('close', () => this.#fail?.(new Error('the server closed a connection')));
  }

  #finish;
  #fail;

  run(until) {
    this.until = until;
    return new Promise((resolve, reject) => {
      [this.#finish, this.#fail] = [resolve, reject];
      this.#send();
    });
  }

  close() {
    this.#fail = undefined;
    this.socket.destroy();
  }

  #send() {
    this.begun = performance.now();
    this.socket.write(this.source.request(), 'latin1');
  }

  #take(text) {
    if (this.#over) return;
    const received = (this.#received += text);
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = received.slice(0, headEnd);
    const length = LENGTH.exec(head)?.[1];
    if (length === undefined) return this.#end(new Error(`an answer without a length:\n${head}`));
    const end = headEnd + HEAD_END.length + Number(length);
    if (received.length < end) return;
    const now = performance.now();
    this.latencies.push(now - this.begun);
    this.ends.push(now);
    this.#received = '';
    const [status, body] = [Number(head.slice(9, 12)), received.slice(headEnd + HEAD_END.length)];
    try {
      this.source.check(status, body);
    } catch (error) {
      return this.#end(new Error(`a wrong answer (${error.message}): ${status} ${body.slice(0, 300)}`));
    }
    if (now >= this.until) return this.#finish();
    try {
      this.#send();
    } catch (error) {
      this.#end(error);
    }
  }

  #end(error) {
    this.#over = true;
    this.#fail?.(error);
  }
}
