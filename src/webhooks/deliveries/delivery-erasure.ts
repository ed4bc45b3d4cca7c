import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { UserErasures } from '../../users/user-erasures.js';

// Contains nothing about the user but the id, and tells the client whose data to delete: it is still delivered.
const STILL_DELIVERED = `'user.consent_revoked'`;

/**
 * Removes an erased user's data from deliveries. What remains is that they existed, when, and their results. Pending deliveries
 * are cancelled. An attempt that is running finishes and records its result, and is the last one.
 */
@Injectable()
export class DeliveryErasure {
  constructor(erasures: UserErasures) {
    erasures.add((manager, userId) => this.erase(manager, userId));
  }

  private async erase(manager: EntityManager, userId: string): Promise<Record<string, unknown>> {
    await manager.query(
      `UPDATE deliveries d
          SET erased = true,
              state = CASE WHEN w.ends THEN 'cancelled' ELSE d.state END,
              cancel_reason = CASE WHEN w.ends THEN 'consent_withdrawn' ELSE d.cancel_reason END,
              next_attempt_at = CASE WHEN w.ends THEN NULL ELSE d.next_attempt_at END,
              finished_at = CASE WHEN w.ends THEN now() ELSE d.finished_at END,
              lease_id = CASE WHEN w.ends THEN NULL ELSE d.lease_id END
         FROM (SELECT p.id, p.state = 'pending' AND (p.lease_id IS NULL OR p.next_attempt_at <= now()) AS ends
                 FROM deliveries p JOIN events v ON v.id = p.event_id
                WHERE v.user_id = $1 AND v.type <> ${STILL_DELIVERED}
                ORDER BY p.id FOR NO KEY UPDATE OF p) AS w
        WHERE d.id = w.id`,
      [userId],
    );
    // A response may repeat what was sent.
    await manager.query(
      `UPDATE delivery_attempts a SET response_start = NULL
         FROM deliveries d JOIN events v ON v.id = d.event_id
        WHERE a.delivery_id = d.id AND v.user_id = $1 AND d.erased`,
      [userId],
    );
    await manager.query(
      `UPDATE events SET payload = NULL, user_id = NULL WHERE user_id = $1 AND type <> ${STILL_DELIVERED}`,
      [userId],
    );
    return {};
  }
}
