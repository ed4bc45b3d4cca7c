import { setTimeout as pause } from 'node:timers/promises';
import type { Factory, TestClient, Tokens } from './factory.js';
import { Http, type Answer } from './http.js';
import type { TestDatabase } from './test-database.js';
import { until } from './until.js';

/** The kinds of requests in the load. */
const KINDS = ['token', 'introspection', 'refresh', 'bearer', 'portal link'] as const;
export type Kind = (typeof KINDS)[number];

/** A finished request of the load: `status` is 0 if there was no response, `begun` is its number in the order of starting. */
export interface Seen {
  kind: Kind;
  status: number;
  begun: number;
}

/** Settings under which no rate limit refuses the load, and no link of it ends before they are counted. */
export const UNLIMITED = {
  RATE_LIMIT_PER_HOUR: '1000000000',
  OAUTH_RATE_LIMIT_PER_MINUTE: '1000000000',
  SESSION_RATE_LIMIT_PER_MINUTE: '1000000000',
  PORTAL_LINK_TTL_SECONDS: '86400',
};

// Enough to keep every part busy, few enough to leave processor time for the rest.
const LOOPS_EACH = 3;
const PAUSE_AFTER_REFUSAL_MS = 20;
/** A pause after each request, with which the load leaves processor time to the starts that a test waits for. */
export const GENTLY_MS = 20;

/** The clients that send the load: one with refresh-token families of its users, of which each has a loop of every kind, and one that introspects. */
export interface Senders {
  client: TestClient;
  introspecting: TestClient;
  families: Tokens[];
  bearer: string;
}

export async function makeSenders(make: Factory): Promise<Senders> {
  const client = await make.client();
  const families: Tokens[] = [];
  for (let n = 0; n < LOOPS_EACH; n++) families.push(await make.tokens(client, await make.user()));
  return {
    client,
    families,
    introspecting: await make.operatorClient(['token:introspect']),
    bearer: await make.clientToken(client),
  };
}

/**
 * Clients that send requests continuously: tokens, introspection of live tokens, refreshes (of which no response may be lost),
 * bearer requests and portal links. Any response that is neither correct nor a well-formed 503 is recorded in `wrong`.
 */
export class Load {
  readonly seen: Seen[] = [];
  readonly wrong: string[] = [];
  /** The access tokens issued with a 200. */
  readonly issued: string[] = [];
  private links = 0;
  private next = 0;
  private readonly underWay = new Set<number>();
  private running = true;
  private readonly loops: Promise<void>[];
  private readonly work: Record<Kind, (n: number) => Promise<Answer>>;

  constructor(
    private readonly http: Http,
    private readonly senders: Senders,
    private readonly mayBeRefused = false,
    private readonly pauseMs = 0,
  ) {
    const { client, introspecting, families, bearer } = senders;
    const basic = { id: client.id, secret: client.secret };
    const ask = { id: introspecting.id, secret: introspecting.secret };
    this.issued.push(bearer, ...families.map((each) => each.access_token));
    this.work = {
      token: () => http.token({ grant_type: 'client_credentials' }, basic),
      introspection: () => http.send('/o/introspect/', { form: { token: this.issued.at(-1)! }, basic: ask }),
      refresh: (n) =>
        http.token({ grant_type: 'refresh_token', refresh_token: families[n]!.refresh_token }, basic),
      bearer: () => http.get('/v2/users', { bearer }),
      'portal link': () => http.get('/webhook_portal', { bearer }),
    };
    this.loops = KINDS.flatMap((kind) => families.map((_, n) => this.loop(kind, n)));
  }

  /** Stops the load after every request under way has finished. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.loops);
  }

  /** The number of the next request: requests with a lower number have already started. */
  get mark(): number {
    return this.next;
  }

  /** Resolves once each kind has had this status that many times, counting only requests that start from now on. */
  async untilEach(status: number, times = 1): Promise<void> {
    const from = this.mark;
    const counts = new Map<Kind, number>();
    // What starts from now on finishes later than all that has been seen: a long load has a million before it.
    let next = this.seen.length;
    const all = () => {
      for (; next < this.seen.length; next++) {
        const { kind, begun, status: seen } = this.seen[next]!;
        if (begun >= from && seen === status) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      return KINDS.every((kind) => (counts.get(kind) ?? 0) >= times);
    };
    await until(`each is answered with ${status}`, all).catch((error: Error) => {
      throw new Error(`${error.message}:\n${this.summary(from)}`);
    });
  }

  /** Resolves once every request that has already started is finished. */
  async untilEnded(): Promise<void> {
    const { mark } = this;
    await until('the requests have ended', () => [...this.underWay].every((begun) => begun >= mark));
  }

  /** The finished requests that started between two marks. */
  between(from: number, to = Infinity): Seen[] {
    return this.seen.filter(({ begun }) => begun >= from && begun < to);
  }

  summary(from = 0): string {
    const counts = new Map<string, number>();
    for (const { kind, status } of this.between(from)) {
      const key = `${kind} ${status}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts].map(([key, count]) => `${key}: ${count}`).join('\n');
  }

  /** After {@link stop}: everything promised with a 200 exists and works, and each family can still be refreshed. */
  async verify(database: TestDatabase): Promise<void> {
    expect(this.wrong).toEqual([]);
    const [links] = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM portal_links');
    expect(links!.n).toBeGreaterThanOrEqual(this.links);
    const families = await database.query<{ ended: boolean }>(
      'SELECT revoked_at IS NOT NULL AS ended FROM grants WHERE client_id = $1',
      [this.senders.client.id],
    );
    expect(families).toEqual(this.senders.families.map(() => ({ ended: false })));
    for (const n of this.senders.families.keys()) expect((await this.work.refresh(n)).status).toBe(200);
    for (const token of this.issued.slice(-50)) {
      const { id, secret } = this.senders.introspecting;
      const answer = await this.http.send('/o/introspect/', { form: { token }, basic: { id, secret } });
      expect(answer.json).toMatchObject({ active: true });
    }
  }

  private async loop(kind: Kind, n: number): Promise<void> {
    while (this.running) {
      const begun = this.next++;
      this.underWay.add(begun);
      const [answer, error] = await this.work[kind](n).then(
        (given) => [given, undefined] as const,
        (thrown: Error) => [undefined, thrown] as const,
      );
      const status = answer?.status ?? 0;
      this.underWay.delete(begun);
      this.seen.push({ kind, status, begun });
      const wrong = answer ? this.judge(kind, n, answer) : this.lost(error);
      if (wrong !== undefined) this.wrong.push(`${kind}: ${wrong}`);
      const pauseMs = status === 200 ? this.pauseMs : PAUSE_AFTER_REFUSAL_MS;
      if (pauseMs > 0) await pause(pauseMs);
    }
  }

  /** What is wrong about a missing response; a response that contradicts the OpenAPI document throws, too. */
  private lost(error: Error): string | undefined {
    const { cause } = error as { cause?: { code?: string; message?: string } };
    const why = cause ? `: ${cause.code ?? ''} ${cause.message ?? ''}` : '';
    return this.mayBeRefused && error.message === 'fetch failed' ? undefined : `${error.message}${why}`;
  }

  private judge(kind: Kind, n: number, answer: Answer): string | undefined {
    if (answer.status === 503) return whatIsWrongWith503(answer);
    if (answer.status !== 200) return `${answer.status} ${answer.text}`;
    if (kind === 'introspection' && answer.json.active !== true)
      return `a live token is called ${answer.text}`;
    if (kind === 'portal link') this.links++;
    if (kind === 'token' || kind === 'refresh') this.issued.push(answer.json.access_token as string);
    if (kind === 'refresh') this.senders.families[n] = answer.json as Tokens;
    return undefined;
  }
}

/** Contract §1: a problem that states the seconds to wait. */
export function whatIsWrongWith503({ headers, json, text }: Answer): string | undefined {
  const isProblem = /^application\/problem\+json(;|$)/.test(headers.get('content-type') ?? '');
  const saysWhen = /^[1-9]\d*$/.test(headers.get('retry-after') ?? '');
  return isProblem && saysWhen && json.status === 503 ? undefined : `an odd 503: ${text}`;
}
