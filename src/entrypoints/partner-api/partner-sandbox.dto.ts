import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  IsOneOf,
  IsOptionalNotNull,
  IsVisibleText,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { FAULT_KINDS, type FaultKind } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { FAULTS_MAX } from '#access/sandbox-faults/sandbox-faults.service.js';
import { BURST_MAX, PAST_DAYS_MAX, SEED_MAX, type Driver } from '#events/sandbox/driver.js';
import { IsScopeList } from '#access/scopes/scope-name.js';
import { flag, idOf, number, oneOf, scopeNames, text, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { vehicleOf } from '#events/sandbox/generator/vehicle.js';

/** The vehicle of a driver. */
@ApiSchema({ name: 'SandboxVehicle' })
class SandboxVehicleView extends viewOf<ReturnType<typeof vehicleOf>>()({
  id: text(),
  make: text(),
  model: text(),
  battery_capacity_kwh: [number(), ({ batteryKwh }) => batteryKwh],
}) {}

/** A driver of a sandbox. */
@ApiSchema({ name: 'SandboxDriver' })
export class DriverView extends viewOf<Driver>()({
  id: idOf('user'),
  name: text(undefined, { example: 'Alex Sandbox' }),
  seed: whole(),
  vehicle: [{ type: SandboxVehicleView }, ({ seed }) => SandboxVehicleView.of(vehicleOf(seed))],
  consented: [flag('Whether the driver consents to this client.'), ({ hasConsent }) => hasConsent],
  scopes: scopeNames(),
  running: [flag('Whether a session runs.'), ({ isRunning }) => isRunning],
  waiting_events: [whole('How many events wait to be published.'), ({ waiting }) => waiting],
}) {}

/** Events that were planned. */
@ApiSchema({ name: 'PlannedEvents' })
export class PlannedView {
  @ApiProperty(whole('How many events are published at their time, or at once.')) events!: number;
}

/** What fails next. */
@ApiSchema({ name: 'SandboxFault' })
export class FaultView {
  @ApiProperty(oneOf(...FAULT_KINDS)) kind!: FaultKind;
  @ApiProperty(whole()) count!: number;
}

/** Body of `POST /v2/sandbox/drivers`. */
export class NewDriverDto {
  @IsOptionalNotNull() @IsVisibleText(1, 200) name?: string;

  @ApiProperty({
    description: 'The same seed gives the same vehicle and the same sessions; by default random.',
  })
  @IsOptionalNotNull()
  @IsWholeNumber(1, SEED_MAX)
  seed?: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/sessions`. */
export class NewSessionDto {
  @ApiProperty({ description: '1 is real time, 60 is 60 times faster; by default 1.', enum: [1, 60] })
  @IsOptionalNotNull()
  @IsWholeNumber(1, 60)
  speed?: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/past_days`. */
export class PastDaysDto {
  @IsWholeNumber(1, PAST_DAYS_MAX) days!: number;
}

/** Body of `POST /v2/sandbox/drivers/{id}/events`. */
export class BurstDto {
  @IsWholeNumber(1, BURST_MAX) count!: number;
}

/** Body of `PUT /v2/sandbox/drivers/{id}/consent`. */
export class DriverConsentDto {
  @ApiProperty({ description: 'By default all scopes of the client that users can grant.' })
  @IsOptionalNotNull()
  @IsScopeList()
  scopes?: string[];
}

/** Body of `POST /v2/sandbox/faults`. */
export class FaultDto {
  @ApiProperty({
    description:
      'The next refresh fails, or the next requests to bearer endpoints for partners are answered with this status.',
  })
  @IsOneOf(...FAULT_KINDS)
  kind!: FaultKind;

  @ApiProperty({ description: 'How many requests; by default 1, and for `refresh` nothing else.' })
  @IsOptionalNotNull()
  @IsWholeNumber(1, FAULTS_MAX)
  count?: number;
}
