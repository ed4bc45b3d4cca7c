import { EVENT_RESOURCES } from '../../../migrations/event-schemas.js';
import { EVENT_TYPES } from '../../../migrations/event-types.js';
import { BATCH_LIMITS, BATCH_TYPE } from '#events/webhooks/batches/batch.js';
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

/** An event of a type, or of any. */
const envelope = (of?: DescribedEvent): Schema => ({
  type: 'object',
  properties: {
    id: idOf('evnt', 'The id of the event: the same in the deliveries to each endpoint.'),
    type: of ? { type: 'string', const: of.type } : text(),
    timestamp: time(),
    user_id: idOf('user'),
    data: of
      ? { $ref: `#/components/schemas/${of.dataSchema}` }
      : { type: 'object', additionalProperties: true },
    ...(of?.isNumbered === false ? {} : { sequence: SEQUENCE }),
  },
  required: ['id', 'type', 'timestamp', 'user_id', 'data'],
  additionalProperties: false,
});

/** What the description of each event type ends with. */
export const SIGNED = 'Signed to Standard Webhooks 1.0.';

/** The id of the operation that describes an event type. */
export const webhookOperationId = (type: string): string =>
  type.replace(/[._](.)/g, (_match, letter: string) => letter.toUpperCase());

/** What a request to an endpoint is, and what its answers mean. */
const webhook = (
  about: Pick<Operation, 'operationId' | 'summary' | 'description'>,
  body: { schema: Schema; example: object },
  more: Operation['responses'] = {},
): Operation => ({
  ...about,
  tags: ['Webhooks'],
  security: [],
  parameters: WEBHOOK_HEADERS,
  requestBody: { required: true, content: { 'application/json': body } },
  responses: {
    '2XX': { description: 'Received.' },
    ...more,
    410: { description: 'Gone: the endpoint is disabled.' },
    default: { description: 'Not received: it is retried later, not before `Retry-After`.' },
  },
});

const exampleOf = (type: string, data: object) => ({
  id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735',
  type,
  timestamp: '2026-03-02T17:42:10Z',
  user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735',
  data,
});

/** What an endpoint receives of an event type. */
export const webhookOf = (event: DescribedEvent): Operation =>
  webhook(
    {
      operationId: event.operationId,
      summary: event.type,
      description: `${event.description} ${event.scope === null ? 'Requires no scope.' : `Requires the scope \`${event.scope}\`, in the client and in the user’s consent.`} ${SIGNED}`,
    },
    { schema: envelope(event), example: exampleOf(event.type, event.sample) },
  );

/** What an endpoint with batches receives instead (contract §22). */
const BATCH = webhook(
  {
    operationId: BATCH_TYPE,
    summary: BATCH_TYPE,
    description: `Events in one request, at an endpoint with \`batch\`. Each is byte for byte as it would be by itself. ${SIGNED}`,
  },
  {
    schema: {
      type: 'object',
      properties: {
        type: { type: 'string', const: BATCH_TYPE },
        data: { type: 'array', minItems: 1, maxItems: BATCH_LIMITS.max.max, items: envelope() },
      },
      required: ['type', 'data'],
      additionalProperties: false,
    },
    example: {
      type: BATCH_TYPE,
      data: EVENT_TYPES.slice(0, 2).map(([type, , , , sample]) => exampleOf(type, sample)),
    },
  },
  { 207: { description: 'With `{"failed": [...]}`: received, except for the events with these ids.' } },
);

/** What webhook endpoints receive, from the first catalogue of event types (contract §10). */
export const WEBHOOKS: Paths = Object.fromEntries([
  ...EVENT_TYPES.map(([type, scope, , description, sample]) => {
    const event = {
      ...{ type, scope, description, sample },
      isNumbered: EVENT_RESOURCES[type] !== undefined,
      dataSchema: dataSchemaName(type),
      operationId: webhookOperationId(type),
    };
    return [type, { post: webhookOf(event) }] as const;
  }),
  [BATCH_TYPE, { post: BATCH }] as const,
]);
