import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ConsentEvents, type ConsentChange } from '../../consents/consent-events.js';
import { newId } from '../../secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { payloadOf } from './event.js';
import { EventsRepository } from './events.repository.js';

/** Tells a client of the consents that it is given and that are taken back (contract §10), in their transactions. */
@Injectable()
export class ConsentEventPublisher {
  constructor(
    private readonly repository: EventsRepository,
    private readonly wakeUps: WakeUps,
    consentEvents: ConsentEvents,
  ) {
    consentEvents.add((manager, change) => this.publish(manager, change));
  }

  private async publish(
    manager: EntityManager,
    { kind, clientId, userId, scopes }: ConsentChange,
  ): Promise<void> {
    const type = `user.consent_${kind}`;
    const payload = payloadOf(type, new Date().toISOString(), userId, { client_id: clientId, scopes });
    const event = { id: newId('evnt'), type, userId, payload };
    const deliveries = await this.repository.publishToClient(manager, event, clientId);
    // Announced before the commit: whoever looks too early looks again soon.
    if (deliveries > 0) this.wakeUps.announce();
  }
}
