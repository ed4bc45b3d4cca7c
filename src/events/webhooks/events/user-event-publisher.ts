import { Injectable } from '@nestjs/common';
import { ConsentsService } from '#access/consents/consents.service.js';
import type { ConsentChange, DeletionChange } from '#access/domain/domain-events.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { newId } from '#platform/secrets/ids.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { payloadOf } from './event.js';
import { EventsRepository } from './events.repository.js';

/** An event for one client about a user. */
interface ToldEvent {
  type: string;
  clientId: string;
  userId: string;
  data: object;
  requestId?: string;
}

/** Notifies clients of consents that they gain and lose, and of deletions that users ask for (contract §10), in the same transaction. */
@Injectable()
export class UserEventPublisher {
  constructor(
    private readonly repository: EventsRepository,
    private readonly wakeUps: WakeUps,
    private readonly consents: ConsentsService,
    private readonly access: AccessChanges,
  ) {}

  @OnDomainEvent('consents.changed', 2)
  publishConsents(changes: ConsentChange[]): Promise<void> {
    return this.publish(changes.map(ofConsent));
  }

  @OnDomainEvent('user.deletion_changed')
  async publishDeletion(change: DeletionChange): Promise<void> {
    const { kind, userId, requestId } = change;
    const due = change.kind === 'requested' ? { due_at: change.dueAt.toISOString() } : {};
    const clientIds = await this.consents.lockClientsWithAccess(userId);
    await this.publish(
      clientIds.map((clientId) => ({
        type: `user.deletion_${kind}`,
        clientId,
        userId,
        data: { client_id: clientId, ...due },
        requestId,
      })),
    );
  }

  private async publish(told: ToldEvent[]): Promise<void> {
    if (told.length === 0) return;
    const timestamp = new Date(this.access.databaseNow).toISOString();
    const events = told.map(({ type, clientId, userId, data, requestId }) => {
      const id = newId('evnt');
      const payload = payloadOf(id, { type, timestamp, userId, data });
      return { id, type, userId, clientId, payload, requestId };
    });
    const deliveries = await this.repository.publishToClients(events);
    // Announced before the commit: a worker that looks too early finds it when it polls.
    this.wakeUps.announce(deliveries > 0 ? 'deliveries' : 'events');
  }
}

function ofConsent({ kind, clientId, userId, scopes, expiresAt, requestId }: ConsentChange): ToldEvent {
  // The two oldest types have no end, so that their contents stay the same.
  const end =
    kind === 'granted' || kind === 'revoked' ? {} : { expires_at: expiresAt?.toISOString() ?? null };
  const data = { client_id: clientId, scopes, ...end };
  return { type: `user.consent_${kind}`, clientId, userId, data, requestId };
}
