import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { checkEndpointAddress, checkEndpointUrl } from '../http/endpoint-url.js';

/** Checks a URL before it is saved (contract §10), so that its owner learns early what would fail at every delivery. */
@Injectable()
export class EndpointAddresses {
  private readonly options: { allowPrivateAddresses: boolean };

  constructor(settings: Settings) {
    this.options = { allowPrivateAddresses: settings.webhookAllowPrivateAddresses };
  }

  /** The normalized URL, or why it is refused, as a text to show beside a field. */
  async check(
    text: string,
  ): Promise<{ url: string; refusal?: undefined } | { url?: undefined; refusal: string }> {
    const checked = checkEndpointUrl(text, this.options);
    if (checked.url === undefined) return { refusal: checked.reason };
    const reason = await checkEndpointAddress(checked.url, this.options);
    return reason === undefined ? { url: checked.url } : { refusal: reason };
  }
}
