import { Injectable } from '@nestjs/common';
import type { VNode } from 'preact';
import type { SandboxFaultEntity } from '#access/sandbox-faults/sandbox-fault.entity.js';
import type { Driver } from '#events/sandbox/driver.js';

/** What is seen of a driver: the car, what is sent, and the power of its session. */
export interface SeenDriver {
  car: VNode;
  sent: VNode;
  power: VNode;
}

/** The port through which a feature shows the chosen driver, and the faults that are left, on the page of the sandbox. */
@Injectable()
export class ChosenDriverView {
  /** Undefined if no feature shows it. */
  show: ((driver: Driver, faults: SandboxFaultEntity[], clientId: string) => Promise<SeenDriver>) | undefined;
}
