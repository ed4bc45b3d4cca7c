import { Injectable } from '@nestjs/common';
import type { Alert } from './alerts.js';

/** The port through which features add alerts to the front page of the console, behind its own. */
@Injectable()
export class OverviewAlerts {
  private readonly finders: (() => Promise<Alert[]>)[] = [];

  add(find: () => Promise<Alert[]>): void {
    this.finders.push(find);
  }

  async find(): Promise<Alert[]> {
    return (await Promise.all(this.finders.map((find) => find()))).flat();
  }
}
