import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, idOf, number, oneOf, scopeNames, text, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { FAULT_KINDS, type FaultKind } from '#access/sandbox-faults/sandbox-fault.entity.js';
import type { Driver } from '#events/sandbox/driver.js';
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
