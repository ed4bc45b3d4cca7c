import { EVENT_TYPES } from '../../migrations/event-types.js';
import type { OpenApiDocument, Operation, Paths } from './openapi.js';
import { idOf, object, text, time } from './openapi.js';
import { SHARED_ANSWERS } from './answers.js';
import { ADMIN_ACCOUNT_PATHS } from './paths/admin-accounts.js';
import { ADMIN_WEBHOOK_PATHS } from './paths/admin-webhooks.js';
import { OAUTH_PATHS } from './paths/oauth.js';
import { PARTNER_PATHS } from './paths/partners.js';
import { SCHEMAS } from './schemas.js';

const DESCRIPTION =
  'The OAuth 2 authority and webhook portal of an electric-vehicle charging data company. Refusals of `/o/token`, `/o/revoke_token/` and `/o/introspect/` are RFC 6749 JSON, all others problems (RFC 9457) whose `type` is the URL of a page. Each response carries `X-Request-Id`. Members are `snake_case`, times ISO 8601 UTC.';

/** The OpenAPI 3.1 document of this service with its public URL. */
export const openApiDocument = (baseUrl: string): OpenApiDocument => ({
  openapi: '3.1.0',
  info: { title: 'Charging Data Service', version: '2.0', description: DESCRIPTION },
  servers: [{ url: baseUrl }],
  tags: [
    { name: 'OAuth', description: 'Issue, refresh, revoke and introspect tokens.' },
    { name: 'Partners', description: 'Endpoints for partners, with a bearer token and a rate limit.' },
    { name: 'Events', description: 'Events published by the company’s own services.' },
    { name: 'Admin', description: 'Operations for operators.' },
  ],
  paths: { ...OAUTH_PATHS, ...PARTNER_PATHS, ...ADMIN_ACCOUNT_PATHS, ...ADMIN_WEBHOOK_PATHS },
  webhooks: WEBHOOKS,
  components: {
    schemas: SCHEMAS,
    responses: SHARED_ANSWERS,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'An access token, in this header only.' },
      clientBasic: {
        type: 'http',
        scheme: 'basic',
        description: 'Client ID and secret, each form-urlencoded before base64 (RFC 6749 §2.3.1).',
      },
    },
  },
});

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  description,
  schema: text(),
});

const delivered = (name: string, scope: string | null, description: string, sample: object): Operation => ({
  operationId: name.replace(/[._](.)/g, (_match, letter: string) => letter.toUpperCase()),
  summary: description,
  description: `${scope === null ? 'Requires no scope.' : `Requires the scope \`${scope}\`, in the client and in the user’s consent.`} Signed to Standard Webhooks 1.0.`,
  tags: ['Webhooks'],
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
        schema: object({
          id: {
            ...idOf('evnt'),
            description: 'The id of the event: the same in the deliveries to each endpoint.',
          },
          type: { const: name },
          timestamp: time(),
          user_id: idOf('user'),
          data: { type: 'object' },
        }),
        example: {
          id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735',
          type: name,
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

const WEBHOOKS: Paths = Object.fromEntries(
  EVENT_TYPES.map(([name, scope, , description, sample]) => [
    name,
    { post: delivered(name, scope, description, sample) },
  ]),
);
