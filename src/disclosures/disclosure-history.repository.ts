import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { delivered } from './delivered.sql.js';
import { MONTHS_KEPT } from './disclosure.js';
import { DisclosureDayEntity } from './disclosure-day.entity.js';
import type { DisclosedKind, DisclosureHistory, FormerClient } from './disclosure-history.js';

/** The first day that is shown, whether or not the purge has been there. */
const FIRST_DAY = `((now() AT TIME ZONE 'UTC')::date - interval '${MONTHS_KEPT} months')::date`;

/** With the event `v`: the deliveries `d` that are not in the sums yet, and the type `t`. */
const WITH_LATER_DELIVERIES = `JOIN event_types t ON t.name = v.type AND t.scope IS NOT NULL
           JOIN deliveries d ON d.event_id = v.id AND ${delivered('d')}
          WHERE NOT v.test AND v.created_at > (SELECT r.up_to FROM disclosure_roll_up r)`;

// More of them nobody reads.
const FORMER_MAX = 200;

/** What users see of what was read (contract §26). In SQL: the sums go together with the deliveries that are not in them yet. */
@Injectable()
export class DisclosureHistoryRepository {
  constructor(
    @InjectRepository(DisclosureDayEntity) private readonly days: Repository<DisclosureDayEntity>,
  ) {}

  /** A client that the user consented to at some time, and when that ended; undefined if there was none. */
  async findClient(userId: string, clientId: string): Promise<Omit<DisclosureHistory, 'kinds'> | undefined> {
    const [found]: { id: string; name: string; endedAt: Date | null }[] = await this.days.query(
      `SELECT c.id, c.name, n.revoked_at AS "endedAt" FROM consents n JOIN clients c ON c.id = n.client_id
        WHERE n.user_id = $1 AND n.client_id = $2`,
      [userId, clientId],
    );
    return found && { client: { id: found.id, name: found.name }, endedAt: found.endedAt };
  }

  /** What the client read of the user's data, newest day first. */
  kindsOf(userId: string, clientId: string): Promise<DisclosedKind[]> {
    return this.days.query(
      `SELECT a.day::text AS day, a.scope, s.description,
              sum(a.requests)::float8 AS requests, sum(a.deliveries)::float8 AS deliveries
         FROM (SELECT y.day, y.scope, y.requests, y.deliveries FROM disclosure_days y
                WHERE y.user_id = $1 AND y.client_id = $2
               UNION ALL
               SELECT (v.created_at AT TIME ZONE 'UTC')::date, t.scope, 0, count(*) FROM events v ${WITH_LATER_DELIVERIES}
                  AND v.user_id = $1 AND d.client_id = $2 GROUP BY 1, 2) a
         LEFT JOIN scopes s ON s.name = a.scope
        WHERE a.day >= ${FIRST_DAY}
        GROUP BY a.day, a.scope, s.description ORDER BY a.day DESC, a.scope`,
      [userId, clientId],
    );
  }

  /** The clients that the user shares nothing with any more and that have read something, the last to end first. */
  formerClients(userId: string): Promise<FormerClient[]> {
    return this.days.query(
      `SELECT c.id, c.name, n.revoked_at AS "endedAt" FROM consents n JOIN clients c ON c.id = n.client_id
        WHERE n.user_id = $1 AND n.revoked_at IS NOT NULL
          AND (EXISTS (SELECT 1 FROM disclosure_days y
                        WHERE y.user_id = n.user_id AND y.client_id = n.client_id AND y.day >= ${FIRST_DAY})
               OR n.client_id IN (SELECT d.client_id FROM events v ${WITH_LATER_DELIVERIES} AND v.user_id = $1))
        ORDER BY n.revoked_at DESC, c.id LIMIT ${FORMER_MAX}`,
      [userId],
    );
  }
}
