import { Injectable } from '@nestjs/common';
import type { EndpointDisabledReason } from './endpoint.entity.js';

interface Endpoint {
  clientId: string;
  url: string;
}

/** What tells somebody about the trouble with an endpoint, in the transaction that notes it. */
interface Teller {
  /** Whether it would tell anyone now. */
  readonly isOn: boolean;
  /** At most once a day for each endpoint. */
  tellFailing(endpoint: Endpoint): Promise<void>;
  tellDisabled(endpoint: Endpoint, reason: EndpointDisabledReason): Promise<void>;
}

/** The port through which a feature is told that endpoints are failing, or were disabled by the service. */
@Injectable()
export class EndpointTroubles {
  private readonly tellers: Teller[] = [];

  add(teller: Teller): void {
    this.tellers.push(teller);
  }

  /** Whether anyone would be told now. */
  get isHeard(): boolean {
    return this.tellers.some(({ isOn }) => isOn);
  }

  async failing(endpoint: Endpoint): Promise<void> {
    for (const teller of this.tellers) if (teller.isOn) await teller.tellFailing(endpoint);
  }

  async disabled(endpoint: Endpoint, reason: EndpointDisabledReason): Promise<void> {
    for (const teller of this.tellers) if (teller.isOn) await teller.tellDisabled(endpoint, reason);
  }
}
