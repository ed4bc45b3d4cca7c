import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ConsentEvents, type ConsentChange } from '../../consents/consent-events.js';
import { newId } from '../../secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { payloadOf } from './event.js';
import { EventsRepository, type ClientEvent } from './events.repository.js';

/** Notifies a client of consents that it gains and loses (contract §10), in the same transaction. */
@Injectable()
export class ConsentEventPublisher {
  constructor(
    private readonly repository: EventsRepository,
    private readonly wakeUps: WakeUps,
    consentEvents: ConsentEvents,
  ) {
    consentEvents.add((manager, changes) => this.publish(manager, changes));
  }

  private async publish(manager: EntityManager, changes: ConsentChange[]): Promise<void> {
    if (changes.length === 0) return;
    const timestamp = new Date().toISOString();
    const events = changes.map(({ kind, clientId, userId, scopes, expiresAt }): ClientEvent => {
      const id = newId('evnt');
      const type = `user.consent_${kind}`;
      // The two that there were first have no end, so that what they say stays the same.
      const end =
        kind === 'granted' || kind === 'revoked' ? {} : { expires_at: expiresAt?.toISOString() ?? null };
      const data = { client_id: clientId, scopes, ...end };
      return { id, type, userId, clientId, payload: payloadOf(id, { type, timestamp, userId, data }) };
    });
    const deliveries = await this.repository.publishToClients(manager, events);
    // Announced before the commit: a worker that looks too early looks again soon.
    this.wakeUps.announce(deliveries > 0 ? 'deliveries' : 'events');
  }
}
