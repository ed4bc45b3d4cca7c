import type { Answer } from './http.js';
import { unexpectedErrors } from './refusals.js';
import { madeForEach } from './made.js';
import type { TestDatabase } from './test-database.js';
import { type TestInstance, useSharedService } from './test-service.js';
import { until } from './until.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from './webhooks.js';

export interface FeedEvent {
  id: string;
  type: string;
  user_id: string;
  data: Record<string, unknown>;
  sequence?: number;
}

/** The fields of an event about a charging session. */
export const session = (id: string, type = TYPE) => ({
  type,
  data: { id, plugged_in_at: '2026-01-01T00:00:00Z', state: 'x' },
});
export const idsOf = ({ json }: Answer) => (json as FeedEvent[]).map(({ id }) => id);
/** The query with which the feed goes on after an answer. */
export const nextOf = ({ headers }: Answer): string => {
  return new URL(/^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')![1]!).search;
};

/**
 * Stores as many events of nobody as one request looks at (contract §21), so that an answer is empty although more follows. `close`
 * removes them.
 */
export async function gapInFeed({ query }: TestDatabase): Promise<{ close: () => Promise<unknown> }> {
  await query(
    `INSERT INTO events (id, type, payload, deliveries)
     SELECT 'evnt01HN2NJ9NMRZBXT2' || lpad(n::text, 10, '0'), $1, '{}', 0 FROM generate_series(1, 20000) n`,
    [TYPE],
  );
  return { close: () => query("DELETE FROM events WHERE id LIKE 'evnt01HN2NJ9NMRZBXT2%'") };
}

/** Two instances for the tests of a file; each test has a new client with a user, who has consented to all its partner scopes. */
export function setUpEventFeed() {
  const service = useSharedService({ instances: 2, env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);
  // Tests read again and again until something is shown.
  const client = madeForEach(() => service.make.client({ rateLimit: 1_000_000 }));
  const user = madeForEach(() => webhooks.consentedUser(client));
  /** A client-credentials token of the client. */
  const own = madeForEach(async () => ({ bearer: await service.make.clientToken(client) }));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  /** Asks the first instance with the client's token, unless said otherwise. */
  const get = (query = '', instance: TestInstance = service, token = own.bearer): Promise<Answer> =>
    instance.http.get(`/v2/events${query}`, { bearer: token });
  /** Publishes an event of the user, or of another, and returns its id. */
  const publish = async (fields: Record<string, unknown> = {}, of = user): Promise<string> => {
    const answer = await webhooks.publish(of.id, fields);
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  /** Reads the whole feed, page by page. */
  const readAll = async (query = '', instance?: TestInstance): Promise<FeedEvent[]> => {
    const events: FeedEvent[] = [];
    for (let at = query; ;) {
      const answer = await get(at, instance);
      expect(answer.status).toBe(200);
      if ((answer.json as FeedEvent[]).length === 0) return events;
      events.push(...(answer.json as FeedEvent[]));
      at = nextOf(answer);
    }
  };
  /** Waits until the feed has these: what the instances write for themselves can hold events up for a moment. */
  const untilShown = (...ids: string[]): Promise<void> =>
    until('the feed shows the events', async () => {
      const shown = (await readAll('?page_size=100')).map(({ id }) => id);
      return ids.every((id) => shown.includes(id));
    });
  return { service, webhooks, client, user, own, get, publish, readAll, untilShown };
}
