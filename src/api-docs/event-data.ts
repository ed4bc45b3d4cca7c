import type { Type } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  flag,
  idOf,
  listOf,
  number,
  optional,
  text,
  time,
  type MemberSchema,
} from '../http/api/api-schemas.js';

const optionalTime = (): MemberSchema => optional(time());

/** The data services own their events: they may add members, and a later event may leave one out. */
const Open = (name: string): ClassDecorator =>
  ApiSchema({ name, additionalProperties: true } as { name: string });

@Open('ChargingSessionData')
class ChargingSessionData {
  @ApiProperty(text())
  id!: string;

  @ApiProperty(optional(text()))
  vehicle_id?: string;

  @ApiProperty(optionalTime())
  plugged_in_at?: string;

  @ApiProperty(optionalTime())
  unplugged_at?: string;

  @ApiProperty(optional(text('Such as `plugged_in`, `charging` or `ended`.')))
  state?: string;

  @ApiProperty(optional(number()))
  energy_kwh?: number;

  @ApiProperty(optional(number()))
  power_kw?: number;
}

@Open('ChargingSubSessionData')
class ChargingSubSessionData {
  @ApiProperty(text())
  id!: string;

  @ApiProperty(optional(text()))
  charging_session_id?: string;

  @ApiProperty(optional(text('Such as `smart`.')))
  mode?: string;

  @ApiProperty(optionalTime())
  started_at?: string;

  @ApiProperty(optionalTime())
  ended_at?: string;

  @ApiProperty(optional(number()))
  energy_kwh?: number;
}

@Open('VehicleData')
class VehicleData {
  @ApiProperty(text())
  id!: string;

  @ApiProperty(optional(text()))
  make?: string;

  @ApiProperty(optional(text()))
  model?: string;

  @ApiProperty(optional(number()))
  battery_capacity_kwh?: number;

  @ApiProperty(optional(number()))
  state_of_charge_percent?: number;

  @ApiProperty(optional(number()))
  charge_limit_percent?: number;

  @ApiProperty(optional(flag()))
  plugged_in?: boolean;

  @ApiProperty(optional(flag()))
  reachable?: boolean;
}

@ApiSchema({ name: 'ConsentData' })
class ConsentData {
  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(listOf(text(), { description: 'What the user shares now; empty after a revocation.' }))
  scopes!: string[];
}

@ApiSchema({ name: 'WebhookTestData' })
class WebhookTestData {
  @ApiProperty(text())
  message!: string;
}

/** What `data` of an event is, by the beginning of its type. */
const MODELS: [prefix: string, model: Type][] = [
  ['charging_session.', ChargingSessionData],
  ['charging_sub_session.', ChargingSubSessionData],
  ['vehicle.', VehicleData],
  ['user.consent_', ConsentData],
  ['webhook.test', WebhookTestData],
];

export const EVENT_DATA_MODELS = MODELS.map(([, model]) => model);

/** The class of an event's `data`, if it is described. */
export const dataModelOf = (eventType: string): Type | undefined =>
  MODELS.find(([prefix]) => eventType.startsWith(prefix))?.[1];
