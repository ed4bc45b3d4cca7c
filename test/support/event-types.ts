import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from './factory.js';
import type { Answer, HttpOptions } from './http.js';
import { madeOnce } from './made.js';
import { unexpectedErrors } from './refusals.js';
import { type TestInstance, type TestService, useSharedService } from './test-service.js';
import { WEBHOOK_ENV, Webhooks } from './webhooks.js';

export const SESSION = 'charging_session.updated';
export const SCHEMA = {
  type: 'object',
  properties: { id: { type: 'string' }, kwh: { type: 'number' } },
  required: ['id'],
};
export const NEW_TYPE = {
  description: 'Something happened.',
  scope: 'vehicle:read',
  sample: { id: '1' },
  resource: '/id',
};

export interface EventTypesSetUp {
  service: TestService;
  webhooks: Webhooks;
  client: TestClient;
  /** Has consented to all partner scopes of the client. */
  user: UserEntity;
  /** Calls the admin API for event types. */
  admin(this: void, method: string, path: string, json?: unknown, options?: HttpOptions): Promise<Answer>;
  newName(this: void): string;
  /** Creates a type with its first version, and returns its name. */
  newType(this: void, changes?: object, schema?: object): Promise<string>;
  /** Publishes an event of the user at an instance. */
  publishAt(
    this: void,
    instance: TestInstance,
    json: object,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

// Files that share a service need types of their own.
let n = 0;

/** Two instances, a client and its user for the tests of a file. */
export function setUpEventTypes(): EventTypesSetUp {
  const service = useSharedService({ instances: 2, env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => webhooks.consentedUser(client));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));
  const own: EventTypesSetUp = {
    ...{ service, webhooks, client, user },
    admin: (method, path, json, options) =>
      service.http.send(`/admin/event_types${path}`, {
        method,
        bearer: webhooks.bearer,
        json,
        ...options,
      }),
    newName: () => `test${++n}.happened`,
    newType: async (changes = {}, schema = SCHEMA) => {
      const name = own.newName();
      expect((await own.admin('PUT', `/${name}`, { ...NEW_TYPE, ...changes })).status).toBe(201);
      expect((await own.admin('PUT', `/${name}/versions/1`, { schema })).status).toBe(201);
      return name;
    },
    publishAt: (instance, json, headers) =>
      instance.http.send('/v2/events', {
        bearer: webhooks.bearer,
        headers,
        json: { user_id: user.id, timestamp: '2026-01-01T00:00:00Z', ...json },
      }),
  };
  return own;
}
