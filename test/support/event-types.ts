import type { Answer, HttpOptions } from './http.js';
import { madeOnce } from './made.js';
import { unexpectedErrors } from './refusals.js';
import { type TestInstance, useSharedService } from './test-service.js';
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

// Files that share a service need types of their own.
let n = 0;

/** Two instances, a client and a user, who has consented to all partner scopes of the client, for the tests of a file. */
export function setUpEventTypes() {
  const service = useSharedService({ instances: 2, env: WEBHOOK_ENV });
  const webhooks = Webhooks.setUp(service);
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => webhooks.consentedUser(client));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  /** Calls the admin API for event types. */
  const admin = (method: string, path: string, json?: unknown, options?: HttpOptions): Promise<Answer> =>
    service.http.send(`/admin/event_types${path}`, { method, bearer: webhooks.bearer, json, ...options });
  const newName = (): string => `test${++n}.happened`;
  /** Creates a type with its first version, and returns its name. */
  const newType = async (changes: object = {}, schema: object = SCHEMA): Promise<string> => {
    const name = newName();
    expect((await admin('PUT', `/${name}`, { ...NEW_TYPE, ...changes })).status).toBe(201);
    expect((await admin('PUT', `/${name}/versions/1`, { schema })).status).toBe(201);
    return name;
  };
  /** Publishes an event of the user at an instance. */
  const publishAt = (
    instance: TestInstance,
    json: object,
    headers?: Record<string, string>,
  ): Promise<Answer> =>
    instance.http.send('/v2/events', {
      bearer: webhooks.bearer,
      headers,
      json: { user_id: user.id, timestamp: '2026-01-01T00:00:00Z', ...json },
    });
  return { service, webhooks, client, user, admin, newName, newType, publishAt };
}
