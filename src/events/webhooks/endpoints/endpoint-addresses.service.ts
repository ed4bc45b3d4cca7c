import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import type { Environment } from '#access/users/accounts/environment.js';
import {
  checkEndpointAddress,
  checkEndpointUrl,
  isOnThisMachine,
  type CheckedEndpointUrl,
} from '../http/endpoint-url.js';

/** Checks a URL before it is saved (contract §10), so that its owner learns early what would make every delivery fail. */
@Injectable()
export class EndpointAddresses {
  constructor(private readonly settings: Settings) {}

  /** Whether endpoints of this environment may be on this machine: those of sandboxes in the demonstration (contract §14). */
  mayBeOnThisMachine(environment: Environment): boolean {
    return this.settings.demonstration && environment === 'sandbox';
  }

  async check(text: string, environment: Environment): Promise<CheckedEndpointUrl> {
    const isHere = this.mayBeOnThisMachine(environment) && isOnThisMachine(text);
    const options = { allowPrivateAddresses: this.settings.webhookAllowPrivateAddresses || isHere };
    const checked = checkEndpointUrl(text, options);
    if (checked.url === undefined) return checked;
    const reason = await checkEndpointAddress(checked.url, options);
    return reason === undefined ? checked : { reason };
  }
}
