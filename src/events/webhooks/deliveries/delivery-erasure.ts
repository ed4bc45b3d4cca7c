import { Injectable } from '@nestjs/common';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { EventsRepository } from '../events/events.repository.js';
import { DeliveriesRepository } from './deliveries.repository.js';

/**
 * Removes an erased user's data from deliveries. What remains is that they existed, when, and their results. Pending deliveries
 * are cancelled. A running attempt finishes and records its result, and is the last one.
 */
@Injectable()
export class DeliveryErasure {
  constructor(
    private readonly deliveries: DeliveriesRepository,
    private readonly events: EventsRepository,
  ) {}

  /** Before consents end: that is still told. */
  @OnDomainEvent('user.erased', 1)
  async erase(userId: string): Promise<void> {
    await this.deliveries.eraseUser(userId);
    // A response may repeat what was sent.
    await this.deliveries.eraseResponses(userId);
    await this.events.eraseUser(userId);
  }
}
