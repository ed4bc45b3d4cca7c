import type { webhooks } from './api.js';

/** Any event, as its type says. */
export type Event = {
  [Type in keyof webhooks]: webhooks[Type]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

/** One line about an event. A type that is missing here does not compile. */
export function describeEvent(event: Event): string {
  switch (event.type) {
    case 'charging_session.created':
    case 'charging_session.updated':
    case 'charging_session.ended':
      return `${event.type}: ${event.data.energy_kwh?.toFixed(1)} kWh`;
    case 'charging_sub_session.created':
    case 'charging_sub_session.ended':
      return `${event.type}: part of ${event.data.charging_session_id?.toUpperCase()}`;
    case 'vehicle.created':
    case 'vehicle.updated':
    case 'vehicle.deleted':
      return `${event.type}: ${event.data.make?.toUpperCase()}`;
    case 'user.consent_granted':
    case 'user.consent_revoked':
      return `${event.type}: ${event.data.scopes.join(' ')}`;
    case 'user.consent_changed':
    case 'user.consent_expiring':
    case 'user.consent_expired':
      return `${event.type}: ${event.data.scopes.join(' ')} until ${event.data.expires_at ?? 'the user says'}`;
    case 'user.deletion_requested':
      return `${event.type}: due at ${event.data.due_at}`;
    case 'user.deletion_cancelled':
      return `${event.type}: ${event.data.client_id}`;
    case 'webhook.test':
      return `${event.type}: ${event.data.message.trim()}`;
    case 'batch':
      return event.data.map((each) => describeEvent(each as Event)).join('; ');
    default:
      return event satisfies never;
  }
}
