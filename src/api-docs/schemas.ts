import { CLIENT_TYPES, GRANT_TYPES } from '../clients/client.entity.js';
import { PROBLEM_KINDS } from '../http/problem-kinds.js';
import { NOTIFICATION_CATEGORIES } from '../notifications/notification.entity.js';
import { SCOPE_AUDIENCES } from '../scopes/scope.entity.js';
import { USER_KINDS, USER_ROLES } from '../users/user.entity.js';
import { DELIVERY_STATES } from '../webhooks/deliveries/delivery.js';
import { flag, idOf, listOf, object, oneOf, orNull, ref, text, time, whole, type Schema } from './openapi.js';

const scopes = listOf(text(), { description: 'Names of scopes.' });

const notification = {
  id: idOf('notf'),
  url: text('The URL of this notification.', { format: 'uri' }),
  message_id: text('Identifies the kind of message.', { pattern: '^ERR[0-9]{1,10}$' }),
  category: oneOf(...NOTIFICATION_CATEGORIES),
  event_time: time(),
  short_text_title: text(),
  short_text_body: text(),
  detail_page_title: text(),
  detail_page_body: text(),
  external_link: orNull(text()),
  external_button_label: text(),
  read_at: time('When the user read it.'),
  resolved_at: time('When the associated problem was resolved.'),
};
const notificationOptional = [
  'detail_page_title',
  'detail_page_body',
  'external_button_label',
  'read_at',
  'resolved_at',
];

const client = {
  client_id: idOf('clnt'),
  name: text(),
  type: oneOf(...CLIENT_TYPES),
  grant_types: listOf(oneOf(...GRANT_TYPES)),
  scopes,
  redirect_uris: listOf(text()),
  owner_id: idOf('user'),
  enabled: flag(),
  rate_limit: orNull(whole('Requests per hour; null: the limit of the service.')),
  trusted: flag('Whether the consent is recorded without a page.'),
  created_at: time(),
  updated_at: time(),
};

const endpoint = {
  id: idOf('endp'),
  client_id: idOf('clnt'),
  url: text(undefined, { format: 'uri' }),
  description: text(),
  event_types: listOf(text()),
  enabled: flag(),
  disabled_reason: orNull(
    text('Why the service disabled it: `gone` (410) or `failing` (five days without a success).'),
  ),
  disabled_at: orNull(time()),
  last_attempt_at: orNull(time()),
  failing_since: orNull(time('The first failed attempt since the last success.')),
  created_at: time(),
  updated_at: time(),
};

const delivery = {
  id: idOf('dlvr', 'Also the `webhook-id` of every attempt.'),
  event_id: idOf('evnt'),
  event_type: text(),
  endpoint_id: idOf('endp'),
  client_id: idOf('clnt'),
  state: oneOf(...DELIVERY_STATES),
  cancel_reason: orNull(
    text(
      'Why it was cancelled: `consent_withdrawn`, `scope_missing`, `endpoint_disabled`, `endpoint_deleted` or `client_disabled`.',
    ),
  ),
  attempt_count: whole(),
  next_attempt_at: orNull(time('Only for a pending delivery.')),
  created_at: time(),
  finished_at: orNull(time()),
};

/** Every schema that more than one operation uses, by name. */
export const SCHEMAS: Record<string, Schema> = {
  TokenResponse: object(
    {
      access_token: text(),
      expires_in: whole('Seconds.'),
      token_type: oneOf('Bearer'),
      scope: text('Names of scopes, separated by spaces.'),
      refresh_token: text('Absent for client credentials.'),
    },
    ['refresh_token'],
  ),
  OAuthError: object({
    error: oneOf(
      'invalid_request',
      'invalid_client',
      'invalid_grant',
      'unauthorized_client',
      'unsupported_grant_type',
      'invalid_scope',
      'invalid_token',
      'insufficient_scope',
    ),
    error_description: text(),
  }),
  Problem: object(
    {
      type: text('URL of a page that explains this kind of problem.', {
        format: 'uri',
        pattern: `/v2/problems/(${Object.keys(PROBLEM_KINDS).join('|')})/$`,
      }),
      status: whole(),
      title: text(),
      detail: text(),
      instance: text('URL of the resource concerned.', { format: 'uri' }),
      notification: ref('Notification'),
      field_errors: {
        type: 'object',
        description: 'What is wrong with which member.',
        additionalProperties: listOf(text()),
      },
    },
    ['type', 'instance', 'notification', 'field_errors'],
  ),
  PlainProblem: object({ status: whole(), title: text(), detail: text() }),
  Notification: object(notification, notificationOptional),
  AdminNotification: object(
    { ...notification, user_id: idOf('user'), client_id: orNull(idOf('clnt')) },
    notificationOptional,
  ),
  PartnerUser: object(
    {
      id: idOf('user'),
      url: text(undefined, { format: 'uri' }),
      email: text('Only where the user is the caller.'),
      name: text('Only where the user is the caller.'),
      scopes,
      consented_at: time('Absent for the owner of a client who has not consented to it.'),
    },
    ['email', 'name', 'consented_at'],
  ),
  User: object({
    id: idOf('user'),
    email: text(),
    name: text(),
    kind: oneOf(...USER_KINDS),
    role: oneOf(...USER_ROLES),
    webhooks_enabled: flag('Whether clients of this owner may open the webhook portal.'),
    enabled: flag(),
    created_at: time(),
    updated_at: time(),
  }),
  Client: object(client),
  NewClient: object({ ...client, client_secret: text('Shown only once; a public client has none.') }, [
    'client_secret',
  ]),
  Consent: object({
    client_id: idOf('clnt'),
    user_id: idOf('user'),
    scopes,
    granted_at: time(),
    revoked_at: orNull(time('Null while it is active.')),
    evidence: orNull(text('The proof of the consent that an operator holds.')),
  }),
  Grant: object({
    id: idOf('grnt'),
    client_id: idOf('clnt'),
    user_id: idOf('user'),
    scopes,
    created_at: time(),
    expires_at: time(),
  }),
  Scope: object({
    name: text(),
    description: text('Shown to users on the consent page.'),
    audience: oneOf(...SCOPE_AUDIENCES),
  }),
  AuditEvent: object({
    id: idOf('audt'),
    occurred_at: time(),
    actor_type: oneOf('user', 'client', 'service'),
    actor_id: orNull(text()),
    action: text(),
    subject_type: text(),
    subject_id: text(),
    address: orNull(text()),
    request_id: orNull(text()),
    before: { type: ['object', 'null'] },
    after: { type: ['object', 'null'] },
  }),
  WebhookEndpoint: object(endpoint),
  NewWebhookEndpoint: object({ ...endpoint, secret: text('Shown only once.', { pattern: '^whsec_' }) }),
  Delivery: object(delivery),
  DeliveryWithAttempts: object({
    ...delivery,
    payload: {
      type: ['object', 'null'],
      description: 'The body of every request; null if the user that it was about was erased.',
    },
    attempts: listOf(
      object({
        number: whole(),
        attempted_at: time(),
        duration_ms: whole(),
        status: orNull(whole('HTTP status of the response.')),
        failure: orNull(
          text(
            'Set if there was no response: `dns`, `tls`, `timeout`, `blocked_address`, `connection` or `http`.',
          ),
        ),
        detail: orNull(text()),
        response_start: orNull(text('The first 16 kB of the response body.')),
      }),
    ),
  }),
  Revoked: object({ revoked: whole('The number of grants that were revoked.') }),
};
