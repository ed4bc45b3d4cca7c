import { getSchemaPath } from '@nestjs/swagger';
import { EVENT_TYPES } from '../../migrations/event-types.js';
import { idOf, text, time } from '../http/api/api-schemas.js';
import { dataModelOf } from './event-data.js';
import type { Operation, Parameter, Paths, Schema } from './openapi.js';

const header = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: text() as object as Schema,
});

const dataSchema = (type: string): Schema => {
  const model = dataModelOf(type);
  return model ? { $ref: getSchemaPath(model) } : { type: 'object', additionalProperties: true };
};

const envelope = (type: string): Schema => ({
  type: 'object',
  properties: {
    id: idOf('evnt', 'The id of the event: the same in the deliveries to each endpoint.'),
    type: { type: 'string', const: type },
    timestamp: time(),
    user_id: idOf('user'),
    data: dataSchema(type),
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
