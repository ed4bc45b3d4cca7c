import type { Answer } from './http.js';
import { madeForEach } from './made.js';
import { unexpectedErrors } from './refusals.js';
import { useService } from './test-service.js';
import { WEBHOOK_ENV, Webhooks } from './webhooks.js';

/** Two instances for the tests of a file; each test has a new client with an endpoint for these types, which answers 500, and a new user. */
export function setUpFailingEndpoint(retrySchedule: string, types?: string[]) {
  const service = useService({
    instances: 2,
    env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: retrySchedule },
  });
  const webhooks = Webhooks.setUp(service);
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));
  const endpoint = madeForEach(() => webhooks.endpoint(client, { types, reply: 500 }));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const query = <T = Record<string, unknown>>(sql: string, params: unknown[] = []): Promise<T[]> =>
    service.database.query<T>(sql, params);
  /** Calls the admin API. */
  const admin = (method: string, path: string, json?: unknown): Promise<Answer> =>
    service.http.send(path, { method, bearer: webhooks.bearer, json });
  return { service, webhooks, client, user, endpoint, query, admin };
}
