import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server of a test. */
export async function serve(handler: Handler): Promise<{ url: string; stop: () => Promise<void> }> {
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => handler(request, response, body));
  });
  // A connection that is kept for 5 s only ends under the next request when this process is held up for as long.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, stop };
}

/** A service that behaves as §21 of its contract says: events in order, a wait, and a link that goes on. */
export class Feed {
  readonly events: { id: string; type: string; [member: string]: unknown }[] = [];
  readonly asked: string[] = [];
  readonly tokens: string[] = [];
  /** What happens instead of the next answers. */
  readonly instead: ((response: ServerResponse) => void)[] = [];
  tokenType = 'Bearer';
  /** Looks at each request first; what it returns is the answer. */
  look:
    | ((request: IncomingMessage) => { status: number; body: object; headers?: object } | undefined)
    | undefined;
  refuseToken: { status: number; body: object | null } | undefined;
  private readonly waiting: { answer: () => void; response: ServerResponse }[] = [];
  url = '';

  publish(...types: string[]): void {
    for (const type of types) {
      const id = `evnt${String(this.events.length + 1).padStart(26, '0')}`;
      const about = { user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735', data: { energy_kwh: 1.5 } };
      this.events.push({ id, type, timestamp: '2026-03-02T17:42:10Z', ...about });
    }
    for (const { answer } of this.waiting.splice(0)) answer();
  }

  /** Whether someone waits now. */
  get isAwaited(): boolean {
    return this.waiting.length > 0;
  }

  /** Ends the connections of those who wait. */
  cut(): void {
    for (const { response } of this.waiting.splice(0)) response.destroy();
  }

  readonly handle: Handler = (request, response, body) => {
    const url = new URL(request.url!, this.url);
    const json = (status: number, value: object | null, headers = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(value));
    const seen = this.look?.(request);
    if (seen) return void json(seen.status, seen.body, seen.headers);
    if (url.pathname === '/o/token') {
      expect(new URLSearchParams(body).get('grant_type')).toBe('client_credentials');
      if (this.refuseToken) return void json(this.refuseToken.status, this.refuseToken.body);
      this.tokens.push(`cds_at_${this.tokens.length + 1}`);
      return void json(200, {
        access_token: this.tokens.at(-1),
        expires_in: 36_000,
        token_type: this.tokenType,
      });
    }
    this.asked.push(url.search);
    const instead = this.instead.shift();
    if (instead) return instead(response);
    const scheme = this.tokenType;
    if (request.headers.authorization !== `${scheme} ${this.tokens.at(-1)}`)
      return void json(401, { status: 401 });
    const after = url.searchParams.get('after');
    const from =
      after === 'latest'
        ? this.events.length
        : after === null
          ? 0
          : this.events.findIndex(({ id }) => id === after) + 1;
    const answer = () => {
      const page = this.events.slice(from, from + 25);
      const last = page.at(-1)?.id ?? this.events[from - 1]?.id ?? 'the-beginning';
      // The public name of the service, which may be another than the one it is reached by.
      json(200, page, { link: `<https://auth.example.com/v2/events?after=${last}>; rel="next"` });
    };
    if (this.events.length > from || !url.searchParams.has('wait')) answer();
    else this.waiting.push({ answer, response });
  };
}
