import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { checkEndpointAddress, checkEndpointUrl, type CheckedEndpointUrl } from '../http/endpoint-url.js';

/** Checks a URL before it is saved (contract §10), so that its owner learns early what would make every delivery fail. */
@Injectable()
export class EndpointAddresses {
  private readonly options: { allowPrivateAddresses: boolean };

  constructor(settings: Settings) {
    this.options = { allowPrivateAddresses: settings.webhookAllowPrivateAddresses };
  }

  async check(text: string): Promise<CheckedEndpointUrl> {
    const checked = checkEndpointUrl(text, this.options);
    if (checked.url === undefined) return checked;
    const reason = await checkEndpointAddress(checked.url, this.options);
    return reason === undefined ? checked : { reason };
  }
}
