import { EVENT_RESOURCES } from '../../migrations/event-schemas.js';
import { EVENT_TYPES } from '../../migrations/event-types.js';
import { idOf, text, time, whole } from '../http/api/api-schemas.js';
import { dataSchemaOf } from './event-data.js';
import type { Operation, Parameter, Paths, Schema } from './openapi.js';

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: text() as object as Schema,
});

const SEQUENCE = whole('Grows by one with each event about the same thing. Tests have none.', { minimum: 1 });

const envelope = (type: string): Schema => ({
  type: 'object',
  properties: {
    id: idOf('evnt', 'The id of the event: the same in the deliveries to each endpoint.'),
    type: { type: 'string', const: type },
    timestamp: time(),
    user_id: idOf('user'),
    data: dataSchemaOf(type),
    ...(EVENT_RESOURCES[type] ? { sequence: SEQUENCE } : {}),
  },
  required: ['id', 'type', 'timestamp', 'user_id', 'data'],
  additionalProperties: false,
});

const delivered = (type: string, scope: string | null, description: string, sample: object): Operation => ({
  operationId: type.replace(/[._](.)/g, (_match, letter: string) => letter.toUpperCase()),
  summary: description,
  description: `${scope === null ? 'Requires no scope.' : `Requires the scope \`${scope}\`, in the client and in the user’s consent.`} Signed to Standard Webhooks 1.0.`,
  tags: ['Webhooks'],
  security: [],
  parameters: [
    header('webhook-id', 'The id of the delivery: the same on every retry and resend.'),
    header('webhook-timestamp', 'Seconds since 1970, of the attempt.'),
    header('webhook-signature', 'One `v1,…` for each valid secret.'),
    header('webhook-event-type', 'The type of the event.'),
    header('webhook-event-version', 'The version of its type: a schema of `data`.'),
  ],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: envelope(type),
        example: {
          id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735',
          type,
          timestamp: '2026-03-02T17:42:10Z',
          user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735',
          data: sample,
        },
      },
    },
  },
  responses: {
    '2XX': { description: 'Received.' },
    410: { description: 'Gone: the endpoint is disabled.' },
    default: { description: 'Not received: it is retried later, not before `Retry-After`.' },
  },
});

/** What webhook endpoints receive, from the catalogue of event types (contract §10). */
export const WEBHOOKS: Paths = Object.fromEntries(
  EVENT_TYPES.map(([type, scope, , description, sample]) => [
    type,
    { post: delivered(type, scope, description, sample) },
  ]),
);
