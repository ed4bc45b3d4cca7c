import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from './factory.js';
import type { Answer } from './http.js';
import { madeForEach } from './made.js';
import { unexpectedErrors } from './refusals.js';
import { type TestService, useService } from './test-service.js';
import { WEBHOOK_ENV, Webhooks, type TestEndpoint } from './webhooks.js';

export interface FailingEndpoint {
  service: TestService;
  webhooks: Webhooks;
  client: TestClient;
  /** Has consented to all partner scopes of the client. */
  user: UserEntity;
  /** The client's; it answers 500. */
  endpoint: TestEndpoint;
  query: <T = Record<string, unknown>>(sql: string, params?: unknown[]) => Promise<T[]>;
  /** Calls the admin API. */
  admin: (method: string, path: string, json?: unknown) => Promise<Answer>;
}

/** Two instances for the tests of a file; each test has a new client with an endpoint for these types, and a new user. */
export function setUpFailingEndpoint(retrySchedule: string, types?: string[]): FailingEndpoint {
  const service = useService({
    instances: 2,
    env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: retrySchedule },
  });
  const webhooks = Webhooks.setUp(service);
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));
  const endpoint = madeForEach(() => webhooks.endpoint(client, { types, reply: 500 }));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));
  return {
    ...{ service, webhooks, client, user, endpoint },
    query: (sql, params = []) => service.database.query(sql, params),
    admin: (method, path, json) => service.http.send(path, { method, bearer: webhooks.bearer, json }),
  };
}
