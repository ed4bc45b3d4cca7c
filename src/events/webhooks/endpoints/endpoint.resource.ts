import { flag, idOf, listOf, oneOf, orNull, text, time, url, whole } from '#platform/http/api/api-schemas.js';
import { violation } from '#platform/http/problems/violation.js';
import {
  NULL_IF_OMITTED,
  resource,
  type ChangesOf,
  type NewOf,
  type ShownKeys,
} from '#platform/http/resources/resource.js';
import {
  IsLine,
  IsListOfDifferent,
  IsText,
  IsTrueOrFalse,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { IsBatch, SHOWN_BATCH } from '../batches/batch.js';
import { AreConditions, CONDITIONS_SCHEMA } from '../filters/condition.js';
import { isSignatureVersion, SIGNATURE_OPTIONS, SIGNATURE_VERSIONS } from '../signing/sign-delivery.js';
import { SHOWN_CREDENTIALS, type GivenCredentials } from '../receiver-tokens/client-credentials.js';
import type { HeaderChanges } from './endpoint-headers.js';
import type { EndpointEntity } from './endpoint.entity.js';

// In code points, as PostgreSQL counts.
export const DESCRIPTION_MAX = 200;
/** Contract §22. */
export const PER_MINUTE_MAX = 6000;

/** The fields of an endpoint (contract §10, §22), for the API, the audit log and forms. Bodies and forms also have its headers and its authentication. */
export const ENDPOINT = resource<EndpointEntity>()('endpoint', {
  id: { view: idOf('endp'), audited: { not: 'the subject of the event' } },
  clientId: { wire: 'client_id', view: idOf('clnt'), audited: true },
  realm: { audited: { not: 'follows from the client' } },
  url: {
    view: url(),
    rule: IsText(1, 2048),
    about: 'A public https URL.',
    example: 'https://hooks.example.com/charging',
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'line', label: 'URL', hint: 'A public https address.' },
  },
  description: {
    view: text(),
    rule: IsLine(0, DESCRIPTION_MAX),
    given: 'optional',
    initial: '',
    changeable: true,
    audited: true,
    form: { as: 'text', label: 'Description (optional)' },
  },
  eventTypes: {
    wire: 'event_types',
    view: listOf(text(), { example: ['vehicle.updated'] }),
    rule: IsListOfDifferent(1, 50, violation('event_types')),
    given: 'required',
    changeable: true,
    audited: true,
    form: { as: 'choices', label: 'Event types', hint: "Those allowed by the client's scopes." },
  },
  filters: {
    view: CONDITIONS_SCHEMA,
    rule: AreConditions(),
    about: 'An event is sent only if all of these hold; [] sends every event of the types.',
    given: 'optional',
    initial: [],
    changeable: true,
    audited: true,
    form: {
      as: 'jsonList',
      label: 'Filters (optional)',
      hint: 'A JSON list of conditions that must all hold, such as [{"path": "data.energy_kwh", "operator": "greater", "value": 5}].',
    },
  },
  filter: { audited: { not: 'made of filters' } },
  enabled: {
    view: flag(),
    rule: IsTrueOrFalse(),
    given: 'optional',
    initial: true,
    changeable: true,
    audited: true,
  },
  maxPerMinute: {
    wire: 'max_per_minute',
    view: orNull(whole('The most attempts that start in a minute.')),
    rule: IsWholeNumber(1, PER_MINUTE_MAX, 'or null'),
    about: 'The most attempts that start in a minute; null without a limit.',
    example: 60,
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'number',
      label: 'Attempts per minute (optional)',
      hint: 'The most that start in a minute, 1 to 6,000. The rest waits.',
    },
  },
  ordered: {
    view: flag(),
    rule: IsTrueOrFalse(),
    about:
      'Whether the events of one user are sent one after the other, in the order in which they were stored. One that fails holds back the later ones of that user.',
    example: false,
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: {
      as: 'tick',
      label: 'One after the other for each user',
      hint: 'A user’s next event is sent only when the one before it was delivered or has failed for good.',
    },
  },
  batch: {
    view: SHOWN_BATCH as never,
    rule: IsBatch(),
    about:
      'Gathers events into requests with `{"type": "batch", "data": [...]}`: at most `max` of them, for which the first one waits up to `wait_ms`. Null: each event in its own request.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
  },
  linedUp: { audited: { not: 'follows from ordered' } },
  signatureVersions: {
    wire: 'signature_versions',
    view: listOf(oneOf(...SIGNATURE_VERSIONS)),
    rule: IsListOfDifferent(
      1,
      SIGNATURE_VERSIONS.length,
      violation('signature_versions'),
      isSignatureVersion,
      oneOf(...SIGNATURE_VERSIONS),
    ),
    about: '`v1`: HMAC-SHA256 by the secret. `v1a`: Ed25519 by the key of the client, which is published.',
    example: ['v1'],
    given: 'optional',
    initial: ['v1'],
    changeable: true,
    audited: true,
    form: {
      as: 'choices',
      label: 'Signatures',
      hint: 'By the secret of the endpoint, by a key whose public part is published, or both.',
      options: SIGNATURE_OPTIONS,
    },
  },
  headerNames: {
    wire: 'headers',
    view: listOf(text(), { description: 'The names of its own headers.', example: ['x-tenant'] }),
    audited: true,
  },
  authentication: { view: SHOWN_CREDENTIALS as never, audited: true },
  disabledReason: {
    wire: 'disabled_reason',
    view: orNull(
      text('Why the service disabled it: `gone` (410) or `failing` (five days without a success).'),
    ),
    audited: true,
  },
  disabledAt: {
    wire: 'disabled_at',
    view: orNull(time()),
    audited: { not: 'the time of the event that shows enabled' },
  },
  lastAttemptAt: {
    wire: 'last_attempt_at',
    view: orNull(time()),
    audited: { not: 'set by deliveries' },
  },
  failingSince: {
    wire: 'failing_since',
    view: orNull(time('The first failed attempt since the last success.')),
    audited: { not: 'set by deliveries' },
  },
  createdAt: { wire: 'created_at', view: time(), audited: { not: 'the time of webhook_endpoint.created' } },
  updatedAt: { wire: 'updated_at', view: time(), audited: { not: 'the time of the event' } },
  deletedAt: { audited: { not: 'the time of webhook_endpoint.deleted' } },
  sealedSecret: { audited: { not: 'has an event of its own: webhook_endpoint.secret_rotated' } },
  sealedPreviousSecret: { audited: { not: 'changes with the secret' } },
  previousSecretExpiresAt: { audited: { not: 'changes with the secret' } },
  sealedHeaders: { audited: { not: 'secret: headers says which have a new value' } },
  sealedClientSecret: { audited: { not: 'secret: authentication says whether it is new' } },
  recentResults: { audited: { not: 'set by deliveries' } },
});

type EndpointFieldsOf = typeof ENDPOINT.fields;
interface WithSecrets {
  /** All of its own headers; null keeps the current value. */
  headers?: HeaderChanges;
  /** Null for none. */
  authentication?: GivenCredentials | null;
}
export type NewEndpoint = NewOf<EndpointEntity, EndpointFieldsOf> & WithSecrets;
/** Members that are left out stay as they are. */
export type EndpointChanges = ChangesOf<EndpointEntity, EndpointFieldsOf> & WithSecrets;
/** What a list shows of the endpoint. */
export type ListedEndpoint = Pick<EndpointEntity, ShownKeys<EndpointFieldsOf> & keyof EndpointEntity>;
