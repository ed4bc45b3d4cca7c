import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, idOf, number, oneOf, scopeNames, text, whole } from '../http/api/api-schemas.js';
import { FAULT_KINDS, type FaultKind } from '../sandbox-faults/sandbox-fault.entity.js';
import type { Driver } from '../sandbox/driver.js';
import { vehicleOf } from '../sandbox/generator/vehicle.js';

/** The vehicle of a driver. */
@ApiSchema({ name: 'SandboxVehicle' })
export class SandboxVehicleView {
  @ApiProperty(text())
  id!: string;

  @ApiProperty(text())
  make!: string;

  @ApiProperty(text())
  model!: string;

  @ApiProperty(number())
  battery_capacity_kwh!: number;
}

/** A driver of a sandbox. */
@ApiSchema({ name: 'SandboxDriver' })
export class DriverView {
  @ApiProperty(idOf('user'))
  id!: string;

  @ApiProperty(text(undefined, { example: 'Alex Sandbox' }))
  name!: string;

  @ApiProperty(whole())
  seed!: number;

  @ApiProperty({ type: SandboxVehicleView })
  vehicle!: SandboxVehicleView;

  @ApiProperty(flag('Whether the driver consents to this client.'))
  consented!: boolean;

  @ApiProperty(scopeNames())
  scopes!: string[];

  @ApiProperty(flag('Whether a session runs.'))
  running!: boolean;

  @ApiProperty(whole('How many events wait to be published.'))
  waiting_events!: number;
}

/** Events that were planned. */
@ApiSchema({ name: 'PlannedEvents' })
export class PlannedView {
  @ApiProperty(whole('How many events are published at their time, or at once.'))
  events!: number;
}

/** What fails next. */
@ApiSchema({ name: 'SandboxFault' })
export class FaultView {
  @ApiProperty(oneOf(...FAULT_KINDS))
  kind!: FaultKind;

  @ApiProperty(whole())
  count!: number;
}

export function driverView({ id, name, seed, hasConsent, scopes, isRunning, waiting }: Driver): DriverView {
  const { id: vehicleId, make, model, batteryKwh } = vehicleOf(seed);
  return {
    id,
    name,
    seed,
    vehicle: { id: vehicleId, make, model, battery_capacity_kwh: batteryKwh },
    consented: hasConsent,
    scopes,
    running: isRunning,
    waiting_events: waiting,
  };
}
