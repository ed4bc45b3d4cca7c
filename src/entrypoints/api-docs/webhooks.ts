import { EVENT_RESOURCES } from '../../../migrations/event-schemas.js';
import { EVENT_TYPES } from '../../../migrations/event-types.js';
import { idOf, text, time, whole } from '#platform/http/api/api-schemas.js';
import { type Operation, type Parameter, type Paths, type Schema, dataSchemaName } from './openapi.js';

const header = (name: string, description: string, required = true): Parameter => ({
  name,
  in: 'header',
  required,
  description,
  schema: text() as object as Schema,
});

/** What each request to an endpoint carries. */
export const WEBHOOK_HEADERS: Parameter[] = [
  header(
    'webhook-id',
    'The id of the delivery: the same on every retry and resend. Of a batch, an id that is the same for the same deliveries.',
  ),
  header('webhook-timestamp', 'Seconds since 1970, of the attempt.'),
  header('webhook-signature', 'One `v1,…` for each valid secret.'),
  header('webhook-event-type', 'The type of the event, or `batch`.'),
  header(
    'webhook-event-version',
    'The version of its type: a schema of `data`. In a batch one for each event, with commas between them.',
  ),
  header(
    'webhook-sequence-gap',
    'At an endpoint with `ordered`: how many events of this user directly before this one were not delivered. Left out if none. In a batch one for each event, with commas between them.',
    false,
  ),
];

const SEQUENCE = whole('Grows by one with each event about the same thing. Tests have none.', { minimum: 1 });

/** An event type as the document describes it. */
export interface DescribedEvent {
  type: string;
  scope: string | null;
  description: string;
  sample: object;
  /** Whether its events may be numbered. */
  isNumbered: boolean;
  /** The name of the schema of `data` in the document. */
  dataSchema: string;
  operationId: string;
}

const envelope = ({ type, dataSchema, isNumbered }: DescribedEvent): Schema => ({
  type: 'object',
  properties: {
    id: idOf('evnt', 'The id of the event: the same in the deliveries to each endpoint.'),
    type: { type: 'string', const: type },
    timestamp: time(),
    user_id: idOf('user'),
    data: { $ref: `#/components/schemas/${dataSchema}` },
    ...(isNumbered ? { sequence: SEQUENCE } : {}),
  },
  required: ['id', 'type', 'timestamp', 'user_id', 'data'],
  additionalProperties: false,
});

/** What the description of each event type ends with. */
export const SIGNED = 'Signed to Standard Webhooks 1.0.';

/** The id of the operation that describes an event type. */
export const webhookOperationId = (type: string): string =>
  type.replace(/[._](.)/g, (_match, letter: string) => letter.toUpperCase());

/** What an endpoint receives of an event type. */
export const webhookOf = (event: DescribedEvent): Operation => ({
  operationId: event.operationId,
  summary: event.type,
  description: `${event.description} ${event.scope === null ? 'Requires no scope.' : `Requires the scope \`${event.scope}\`, in the client and in the user’s consent.`} ${SIGNED}`,
  tags: ['Webhooks'],
  security: [],
  parameters: WEBHOOK_HEADERS,
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: envelope(event),
        example: {
          id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735',
          type: event.type,
          timestamp: '2026-03-02T17:42:10Z',
          user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735',
          data: event.sample,
        },
      },
    },
  },
  responses: {
    '2XX': { description: 'Received.' },
    207: {
      description: 'For a batch, with `{"failed": [...]}`: received, except for the events with these ids.',
    },
    410: { description: 'Gone: the endpoint is disabled.' },
    default: { description: 'Not received: it is retried later, not before `Retry-After`.' },
  },
});

/** What webhook endpoints receive, from the first catalogue of event types (contract §10). */
export const WEBHOOKS: Paths = Object.fromEntries(
  EVENT_TYPES.map(([type, scope, , description, sample]) => {
    const event = {
      ...{ type, scope, description, sample },
      isNumbered: EVENT_RESOURCES[type] !== undefined,
      dataSchema: dataSchemaName(type),
      operationId: webhookOperationId(type),
    };
    return [type, { post: webhookOf(event) }];
  }),
);
