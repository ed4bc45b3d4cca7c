// Never run: each line after a directive must not compile, and a directive without an error is an error itself.
import createClient from 'openapi-fetch';
import type { paths } from './api.js';
import type { components } from './operators-api.js';
import type { Event } from './events.js';

const api = createClient<paths>({ baseUrl: 'https://auth.example.com' });

// @ts-expect-error -- there is no such path
await api.GET('/v2/user');

// @ts-expect-error -- the path cannot be read
await api.GET('/o/token');

// @ts-expect-error -- the form names its grant grant_type
await api.POST('/o/token', { body: { grantType: 'client_credentials' } });

// @ts-expect-error -- there is no such grant
await api.POST('/o/token', { body: { grant_type: 'password' } });

// @ts-expect-error -- the parameter is page_size
await api.GET('/v2/users', { params: { query: { pageSize: 10 } } });

// @ts-expect-error -- the path needs a user
await api.GET('/v2/users/{id}');

// Of a body, openapi-fetch itself refuses only wrong values and missing members.
// @ts-expect-error -- the member is rate_limit
export const changes: components['schemas']['ClientChangesDto'] = { limit: 50 };

const users = await api.GET('/v2/users');
// @ts-expect-error -- a partner knows its users by id
export const id = users.data?.[0]?.user_id;

export function granted(event: Event): string[] {
  // @ts-expect-error -- there is no such event type
  if (event.type === 'user.consent_given') return [];
  // @ts-expect-error -- a vehicle has no scopes of this type
  if (event.type === 'vehicle.updated') return event.data.scopes;
  // @ts-expect-error -- the member is scopes
  if (event.type === 'user.consent_granted') return event.data.scope;
  return [];
}
