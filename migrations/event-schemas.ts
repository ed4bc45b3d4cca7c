/** The first version of the schema of each event type's `data` (contract §21), by the name of the type. */
export const EVENT_SCHEMAS: Record<string, Record<string, unknown>> = {};

/** Of the first types, those whose events are about one thing: the JSON Pointer to its id in `data`. */
export const EVENT_RESOURCES: Record<string, string> = {};

type Properties = Record<string, Record<string, unknown>>;

const text = (description: string) => ({ type: 'string', minLength: 1, maxLength: 255, description });
const time = (description: string) => ({ type: 'string', format: 'date-time', description });
const amount = (description: string) => ({ type: 'number', minimum: 0, description });
const percent = (description: string) => ({ type: 'number', minimum: 0, maximum: 100, description });

const CHARGING_SESSION: Properties = {
  id: text('The charging session.'),
  vehicle_id: text('The vehicle that is plugged in.'),
  plugged_in_at: time('When the session began.'),
  unplugged_at: time('When the session ended.'),
  state: text('Such as `plugged_in`, `charging` or `ended`.'),
  energy_kwh: amount('The energy since the session began.'),
  power_kw: { type: 'number', description: 'The power at the moment; negative towards the grid.' },
};

const CHARGING_SUB_SESSION: Properties = {
  id: text('The sub-session.'),
  charging_session_id: text('The charging session that it is part of.'),
  mode: text('Such as `smart`.'),
  started_at: time('When the mode started.'),
  ended_at: time('When the mode ended.'),
  energy_kwh: amount('The energy in this mode.'),
};

const VEHICLE: Properties = {
  id: text('The vehicle.'),
  make: text('Who made it.'),
  model: text('The model.'),
  battery_capacity_kwh: amount('What the battery holds.'),
  state_of_charge_percent: percent('How full the battery is.'),
  charge_limit_percent: percent('Up to where it is charged.'),
  plugged_in: { type: 'boolean', description: 'Whether it is plugged in.' },
  reachable: { type: 'boolean', description: 'Whether it answers.' },
};

const CLIENT: Properties = {
  client_id: { type: 'string', pattern: '^clnt[0-7][0-9A-HJKMNP-TV-Z]{25}$', description: 'Your client.' },
};

const CONSENT: Properties = {
  ...CLIENT,
  scopes: {
    type: 'array',
    items: { type: 'string' },
    description: 'What the user shares now; empty after a revocation.',
  },
};

const CONSENT_WITH_END: Properties = {
  ...CONSENT,
  expires_at: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When it ends by itself; null: never.',
  },
};

/** Publishers may add members at any time, so receivers must ignore those that they do not know. */
function describe(name: string, properties: Properties, required: string[]): void {
  EVENT_SCHEMAS[name] = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `data of ${name}`,
    type: 'object',
    properties,
    required,
    additionalProperties: true,
  };
  if (properties.id) EVENT_RESOURCES[name] = '/id';
}

describe('charging_session.created', CHARGING_SESSION, ['id', 'plugged_in_at', 'state']);
describe('charging_session.updated', CHARGING_SESSION, ['id', 'state']);
describe('charging_session.ended', CHARGING_SESSION, ['id', 'unplugged_at']);
describe('charging_sub_session.created', CHARGING_SUB_SESSION, [
  'id',
  'charging_session_id',
  'mode',
  'started_at',
]);
describe('charging_sub_session.ended', CHARGING_SUB_SESSION, ['id', 'charging_session_id', 'ended_at']);
describe('vehicle.created', VEHICLE, ['id']);
describe('vehicle.updated', VEHICLE, ['id']);
describe('vehicle.deleted', VEHICLE, ['id']);
describe('user.consent_granted', CONSENT, ['client_id', 'scopes']);
describe('user.consent_revoked', CONSENT, ['client_id', 'scopes']);
describe('user.consent_changed', CONSENT_WITH_END, ['client_id', 'scopes', 'expires_at']);
describe('user.consent_expiring', CONSENT_WITH_END, ['client_id', 'scopes', 'expires_at']);
describe('user.consent_expired', CONSENT_WITH_END, ['client_id', 'scopes', 'expires_at']);
describe(
  'user.deletion_requested',
  { ...CLIENT, due_at: time('When the account is deleted, with everything that depends on it.') },
  ['client_id', 'due_at'],
);
describe('user.deletion_cancelled', CLIENT, ['client_id']);
describe('webhook.test', { message: text('A greeting.') }, ['message']);
