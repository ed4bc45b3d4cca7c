import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const TOKEN = 'cds_at_token';
export const CLIENT = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
export const USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';

/** The answer of an introspection. */
export const active = (changes: object = {}): object => ({
  active: true,
  scope: 'vehicle:read',
  client_id: CLIENT,
  sub: USER,
  grant_type: 'authorization_code',
  exp: Math.floor(Date.now() / 1000) + 3_600,
  ...changes,
});

interface Answer {
  status: number;
  body: unknown;
}

/** A service that answers as a test says, for what the real one never does. */
export class StandIn {
  /** What is answered to an introspection, at once or when the promise resolves. */
  introspect: (form: URLSearchParams) => Answer | Promise<Answer> = () => ({ status: 200, body: active() });
  /** The forms of all introspections. */
  readonly asked: URLSearchParams[] = [];
  /** The requests for the feed, and their responses while they are open. */
  readonly feeds: { request: IncomingMessage; response: ServerResponse }[] = [];
  /** What is answered to a report of what was served. */
  report: () => number = () => 200;
  /** The bodies of all reports. */
  readonly reports: { batch_id: string; disclosures: Record<string, unknown>[] }[] = [];
  /** How many tokens were given out. */
  tokens = 0;
  tokenType = 'Bearer';
  /** Every request. */
  readonly requests: IncomingMessage[] = [];
  /** Looks at each request first; what it returns is the answer. */
  look: (request: IncomingMessage) => { status: number; headers: Record<string, string> } | undefined = () =>
    undefined;
  /** Whether the feed is offered. */
  hasFeed = true;
  /** With what status the feed is refused otherwise. */
  feedRefusal = 503;
  readonly connections = new Set<unknown>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<StandIn> {
    const server = createServer((request, response) => void standIn.serve(request, response));
    // Node would end a connection after a few seconds without a request: under one that comes just then, after a pause.
    server.keepAliveTimeout = 0;
    const standIn: StandIn = new StandIn(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get feed(): ServerResponse {
    return this.feeds.at(-1)!.response;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Node.js keeps the date of its own header for up to a second, and longer while the process is held up.
    const send = ({ status, body }: Answer) =>
      response
        .writeHead(status, { 'content-type': 'application/json', date: new Date().toUTCString() })
        .end(JSON.stringify(body));
    const text = await textOf(request);
    this.requests.push(request);
    const seen = this.look(request);
    if (seen) return void response.writeHead(seen.status, seen.headers).end('{}');
    const form = new URLSearchParams(text);
    if (request.url === '/o/token') {
      this.tokens++;
      send({
        status: 200,
        body: { access_token: 'cds_at_guard', expires_in: 36_000, token_type: this.tokenType },
      });
    } else if (request.url === '/v2/access_changes') {
      if (!this.hasFeed) return void send({ status: this.feedRefusal, body: {} });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      this.feeds.push({ request, response });
    } else if (request.url === '/v2/disclosures') {
      this.reports.push(JSON.parse(text) as StandIn['reports'][number]);
      send({ status: this.report(), body: {} });
    } else {
      this.connections.add(request.socket);
      this.asked.push(form);
      send(await this.introspect(form));
    }
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
