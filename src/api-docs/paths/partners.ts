import {
  json,
  jsonBody,
  list,
  PAGING,
  PARTNER_HEADERS,
  partnerProblems,
  pathId,
  problems,
  secretJson,
  SERVICE_VERSION,
} from '../answers.js';
import { body, flag, idOf, object, ref, text, whole, type Paths } from '../openapi.js';

const BEARER = [{ bearer: [] }];
const user = pathId('id', idOf('user'));
const notification = pathId('id', idOf('notf'));

/** The endpoints that partners call with a bearer token (contract §6, §8, §9), and publishing events (§10). */
export const PARTNER_PATHS: Paths = {
  '/webhook_portal': {
    get: {
      operationId: 'webhookPortal',
      summary: 'Retrieve access link for the webhook portal',
      description:
        'A link that works once, within 5 minutes. Only for the client itself: with a client-credentials token or, for a confidential client, a token of its owner.',
      tags: ['Partners'],
      security: BEARER,
      parameters: [SERVICE_VERSION],
      responses: {
        200: secretJson('The link.', object({ url: text(undefined, { format: 'uri' }) }), PARTNER_HEADERS),
        ...partnerProblems(),
      },
    },
  },
  '/v2/users': {
    get: {
      operationId: 'listUsers',
      summary: 'The users who share data with the client',
      tags: ['Partners'],
      security: BEARER,
      parameters: [SERVICE_VERSION, ...PAGING],
      responses: { 200: list('PartnerUser', PARTNER_HEADERS), ...partnerProblems() },
    },
  },
  '/v2/users/me': {
    get: {
      operationId: 'getOwnUser',
      summary: 'The user behind the token',
      description:
        'The user-info endpoint for libraries that ask who logged in: one object, with `email` and `name`. A client-credentials token has no user: 404.',
      tags: ['Partners'],
      security: BEARER,
      parameters: [SERVICE_VERSION],
      responses: { 200: json('The user.', ref('PartnerUser'), PARTNER_HEADERS), ...partnerProblems(404) },
    },
  },
  '/v2/users/{id}': {
    get: {
      operationId: 'getUser',
      summary: 'Get a user',
      description:
        'A client-credentials token also sees the owner of its client. The URL in `instance` of a 429 stays available while the limit is exceeded.',
      tags: ['Partners'],
      security: BEARER,
      parameters: [user, SERVICE_VERSION],
      responses: { 200: json('The user.', ref('PartnerUser'), PARTNER_HEADERS), ...partnerProblems(404) },
    },
  },
  '/notifications': {
    get: {
      operationId: 'listNotifications',
      summary: 'Notifications that concern the client, newest first',
      tags: ['Partners'],
      security: BEARER,
      parameters: [SERVICE_VERSION, ...PAGING],
      responses: { 200: list('Notification', PARTNER_HEADERS), ...partnerProblems() },
    },
  },
  '/notifications/{id}': {
    get: {
      operationId: 'getNotification',
      summary: 'Get a notification',
      tags: ['Partners'],
      security: BEARER,
      parameters: [notification, SERVICE_VERSION],
      responses: {
        200: json('The notification.', ref('Notification'), PARTNER_HEADERS),
        ...partnerProblems(404),
      },
    },
    patch: {
      operationId: 'markNotification',
      summary: 'Mark a notification read or resolved, once',
      tags: ['Partners'],
      security: BEARER,
      parameters: [notification, SERVICE_VERSION],
      requestBody: jsonBody(body({ read: flag(), resolved: flag() }, []), { read: true }),
      responses: {
        200: json('The notification.', ref('Notification'), PARTNER_HEADERS),
        ...partnerProblems(404, 413, 415),
      },
    },
  },
  '/v2/events': {
    post: {
      operationId: 'publishEvent',
      summary: 'Publish an event',
      description:
        'For the company’s own services: requires `event:publish`. The event and its deliveries are stored before the response.',
      tags: ['Events'],
      security: [{ bearer: ['event:publish'] }],
      parameters: [
        {
          name: 'Idempotency-Key',
          in: 'header',
          description: 'The same key with the same body returns the same response for 24 hours.',
          schema: text(undefined, { pattern: '^[\\x21-\\x7e]{1,255}$' }),
        },
      ],
      requestBody: jsonBody(
        body(
          {
            type: text('A type of the event catalogue that services publish.'),
            user_id: idOf('user'),
            timestamp: text('ISO 8601, with `Z` or an offset.', { format: 'date-time' }),
            data: { type: 'object' },
          },
          ['type', 'user_id', 'timestamp', 'data'],
        ),
      ),
      responses: {
        202: json(
          'The event is accepted.',
          object({ id: idOf('evnt'), deliveries: whole('The number of endpoints it is sent to.') }),
        ),
        ...problems(400, 401, 403, 413, 415, 422, 429, 500, 503),
      },
    },
  },
};
