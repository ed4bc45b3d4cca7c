import {
  adminProblems,
  json,
  jsonBody,
  list,
  noContent,
  PAGING,
  pathId,
  query,
  secretJson,
} from '../answers.js';
import { body, flag, idOf, listOf, oneOf, orNull, ref, text, time, type Paths } from '../openapi.js';
import { NOTIFICATION_CATEGORIES } from '../../notifications/notification.entity.js';
import { DELIVERY_STATES } from '../../webhooks/deliveries/delivery.js';
import { read, write } from './admin-operation.js';

const client = pathId('client_id', idOf('clnt'));
const endpoint = pathId('id', idOf('endp'));
const delivery = pathId('id', idOf('dlvr'));
const endpointMembers = {
  url: text('A public https URL.', { maxLength: 2048 }),
  description: text(undefined, { maxLength: 200 }),
  event_types: listOf(text(), { minItems: 1, uniqueItems: true }),
  enabled: flag(),
};

/** Webhook endpoints, deliveries, notifications and the audit log in the admin API (contract §12). */
export const ADMIN_WEBHOOK_PATHS: Paths = {
  '/admin/clients/{client_id}/webhook_endpoints': {
    get: read(
      'listWebhookEndpoints',
      'Webhook endpoints of a client',
      { 200: list('WebhookEndpoint'), ...adminProblems(404) },
      { parameters: [client, ...PAGING] },
    ),
    post: write(
      'createWebhookEndpoint',
      'Add a webhook endpoint',
      {
        201: secretJson('The endpoint and, only this once, its secret.', ref('NewWebhookEndpoint')),
        ...adminProblems(404, 409, 413, 415),
      },
      { parameters: [client], requestBody: jsonBody(body(endpointMembers, ['url', 'event_types'])) },
    ),
  },
  '/admin/webhook_endpoints/{id}': {
    get: read(
      'getWebhookEndpoint',
      'Get a webhook endpoint',
      { 200: json('The endpoint.', ref('WebhookEndpoint')), ...adminProblems(404) },
      { parameters: [endpoint] },
    ),
    patch: write(
      'updateWebhookEndpoint',
      'Update a webhook endpoint',
      { 200: json('The endpoint.', ref('WebhookEndpoint')), ...adminProblems(404, 413, 415) },
      { parameters: [endpoint], requestBody: jsonBody(body(endpointMembers, [])) },
    ),
    delete: write(
      'deleteWebhookEndpoint',
      'Delete a webhook endpoint',
      { 204: noContent('Deleted.'), ...adminProblems(404, 413, 415) },
      { parameters: [endpoint] },
    ),
  },
  '/admin/deliveries': {
    get: read(
      'listDeliveries',
      'Deliveries, newest first',
      { 200: list('Delivery'), ...adminProblems() },
      {
        parameters: [
          query('client_id', idOf('clnt')),
          query('endpoint_id', idOf('endp')),
          query('state', oneOf(...DELIVERY_STATES)),
          ...PAGING,
        ],
      },
    ),
  },
  '/admin/deliveries/{id}': {
    get: read(
      'getDelivery',
      'Get a delivery with its attempts',
      { 200: json('The delivery.', ref('DeliveryWithAttempts')), ...adminProblems(404) },
      { parameters: [delivery] },
    ),
  },
  '/admin/deliveries/{id}/resend': {
    post: write(
      'resendDelivery',
      'Resend a delivery, with the same `webhook-id`',
      {
        202: json('It is due immediately.', ref('DeliveryWithAttempts')),
        ...adminProblems(404, 409, 413, 415),
      },
      { parameters: [delivery] },
    ),
  },
  '/admin/notifications': {
    get: read(
      'listAdminNotifications',
      'Notifications, newest first',
      { 200: list('AdminNotification'), ...adminProblems() },
      { parameters: [query('client_id', idOf('clnt')), query('user_id', idOf('user')), ...PAGING] },
    ),
    post: write(
      'raiseNotification',
      'Create a notification for a user',
      { 201: json('The notification.', ref('AdminNotification')), ...adminProblems(413, 415) },
      {
        requestBody: jsonBody(
          body(
            {
              user_id: idOf('user'),
              client_id: orNull(text('The client it is about.')),
              message_id: text(undefined, { pattern: '^ERR[0-9]{1,10}$' }),
              category: oneOf(...NOTIFICATION_CATEGORIES),
              event_time: time('Defaults to now.'),
              short_text_title: text(undefined, { maxLength: 200 }),
              short_text_body: text(undefined, { maxLength: 1000 }),
              detail_page_title: text(undefined, { maxLength: 200 }),
              detail_page_body: text(undefined, { maxLength: 10_000 }),
              external_link: orNull(text(undefined, { maxLength: 2000 })),
              external_button_label: text(undefined, { maxLength: 100 }),
            },
            ['user_id', 'message_id', 'category', 'short_text_title', 'short_text_body'],
          ),
        ),
      },
    ),
  },
  '/admin/audit_events': {
    get: read(
      'listAuditEvents',
      'The audit log, newest first',
      { 200: list('AuditEvent'), ...adminProblems() },
      {
        parameters: [
          query('actor', text(), 'The id of the actor.'),
          query('subject', text(), 'The id of the subject.'),
          query('action', text()),
          query('since', time()),
          ...PAGING,
        ],
      },
    ),
  },
};
