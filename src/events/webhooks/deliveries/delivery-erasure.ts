import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { UserErasures } from '#access/users/accounts/user-erasures.js';
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
    erasures: UserErasures,
  ) {
    erasures.add((manager, userId) => this.erase(manager, userId));
  }

  private async erase(manager: EntityManager, userId: string): Promise<Record<string, unknown>> {
    await this.deliveries.eraseUser(manager, userId);
    // A response may repeat what was sent.
    await this.deliveries.eraseResponses(manager, userId);
    await this.events.eraseUser(manager, userId);
    return {};
  }
}
