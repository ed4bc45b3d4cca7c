import { madeForEach, madeOnce } from './made.js';
import { Receiver, type ReceivedRequest } from './receiver.js';
import { useSharedService } from './test-service.js';
import { settled } from './settled.js';
import { until } from './until.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from './webhooks.js';

/** An event in the body of a batch. */
export interface BatchedEvent {
  id: string;
  type: string;
  user_id: string;
  data: { n: number; filler?: string };
}

/** How long a batch waits: the tests say when it is over. */
export const WAIT_MS = 5000;

/** What the receiver answers: a status, or what the events of the batch call for. */
type Reply =
  | number
  | ((events: BatchedEvent[]) => [status: number, body: string, headers?: Record<string, string>]);

interface Row {
  id: string;
  event_id: string;
  state: string;
  attempts: number;
  status: number | null;
  failure: string | null;
  batch_id: string | null;
  response_start: string | null;
  wait: number | null;
}

/** Endpoints with `batch` (contract §22), each at a path of its own of one receiver. */
export function useBatchedEndpoints() {
  const service = useSharedService({ env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '3600,3600' } });
  /** Of the test that runs: where its endpoint is, the secret that it was given, and what it answers. */
  const own = { path: '', secret: '', reply: 204 as Reply };
  const receiver = Receiver.setUp((response, { body }) => {
    const [status, text = '', headers = {}] =
      typeof own.reply === 'number'
        ? [own.reply]
        : own.reply((JSON.parse(body) as { data: BatchedEvent[] }).data);
    response.writeHead(status, headers).end(text);
  });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  const [anna, ben] = [
    madeForEach(() => webhooks.consentedUser(client)),
    madeForEach(() => webhooks.consentedUser(client)),
  ];
  let paths = 0;

  beforeEach(() => {
    own.reply = 204;
    own.path = `/${++paths}`;
  });

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  async function add(json: object = {}): Promise<string> {
    const batch = { max: 100, wait_ms: WAIT_MS };
    const answer = await webhooks.add(client, {
      ...{ url: receiver.url(own.path), batch, max_per_minute: 6000 },
      ...json,
    });
    expect([answer.status, answer.json.field_errors]).toEqual([201, undefined]);
    own.secret = answer.json.secret as string;
    return answer.json.id as string;
  }
  const publish = async (userId: string, n: number, more: object = {}): Promise<string> => {
    const answer = await webhooks.publish(userId, { type: TYPE, data: { n, ...more } });
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  const publishAll = async (userId: string, ...numbers: number[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const n of numbers) ids.push(await publish(userId, n));
    return ids;
  };
  /** Nothing is sent to the endpoints, however long publishing takes. */
  const hold = (until = 'infinity') =>
    query(
      'UPDATE webhook_throttles SET blocked_until = $2 FROM webhook_endpoints e WHERE e.id = endpoint_id AND e.client_id = $1',
      [client.id, until],
    );
  /**
   * As if what waits for more had waited long enough, and had been due as long: a claim that began before the last one was published might still
   * see it. What is ordered also waits for older transactions, those of other test files too.
   */
  const waited = async () => {
    await settled(query);
    await query(
      `UPDATE deliveries SET created_at = created_at - interval '5 seconds', next_attempt_at = next_attempt_at - interval '5 seconds'
        WHERE client_id = $1 AND state = 'pending'`,
      [client.id],
    );
    await hold('-infinity');
  };
  const requests = (): ReceivedRequest[] => receiver.requests.filter(({ url }) => url === own.path);
  const eventsIn = ({ body }: ReceivedRequest) => (JSON.parse(body) as { data: BatchedEvent[] }).data;
  const arrived = () => requests().map((request) => eventsIn(request).map(({ data }) => data.n));
  const untilRequests = (n: number) => until(`${n} requests`, () => requests().length >= n);
  const admin = (method: string, at: string) =>
    service.http.send(`/admin/${at}`, { method, bearer: webhooks.bearer });
  const rows = () =>
    query<Row>(
      `SELECT d.id, d.event_id, d.state, d.attempts, a.status, a.failure, a.batch_id, a.response_start,
              extract(epoch FROM d.next_attempt_at - now())::float8 AS wait
         FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
         JOIN events v ON v.id = d.event_id
        WHERE d.client_id = $1 ORDER BY v.xid, v.id`,
      [client.id],
    );
  const untilAttempted = (attempts: number) =>
    until('all were attempted', async () => {
      const found = await rows();
      return found.length > 0 && found.every((row) => row.attempts >= attempts);
    });
  const states = async () => (await rows()).map(({ state }) => state);
  const beginNext = () =>
    query(
      "UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE client_id = $1 AND state = 'pending' AND NOT behind",
      [client.id],
    );

  return {
    own,
    service,
    receiver,
    webhooks,
    client,
    anna,
    ben,
    query,
    add,
    publish,
    publishAll,
    hold,
    waited,
    requests,
    eventsIn,
    arrived,
    untilRequests,
    admin,
    rows,
    untilAttempted,
    states,
    beginNext,
  };
}
