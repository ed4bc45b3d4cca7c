import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { DELIVERIES_OF_EVENT } from './deliveries-of-event.sql.js';
import {
  ACCOUNT_DATA,
  MONTHS_KEPT,
  DisclosureDayEntity,
  type DisclosedKind,
  type DisclosureHistory,
  type FormerClient,
} from './disclosure.js';
import type { Language } from '#platform/language/languages.js';

/** What a client read on a day, in the form of the export. */
interface ReadOnDay {
  day: string;
  client_id: string;
  application: string | null;
  scope: string;
  /** The words of the catalogue for the scope; null for `ACCOUNT_DATA`. */
  words: string | null;
  requests: number;
  deliveries: number;
}

/** The first day that is shown, whether or not the purge has been there. */
const FIRST_DAY = `((now() AT TIME ZONE 'UTC')::date - interval '${MONTHS_KEPT} months')::date`;

/** The deliveries about the user `$1` that are not in the sums yet: the client, the day of the event, the scope. */
const LATER = `later AS MATERIALIZED (
         SELECT d.client_id, (v.created_at AT TIME ZONE 'UTC')::date AS day, t.scope
           FROM (SELECT e.id, e.type, e.created_at FROM events e
                  WHERE e.user_id = $1 AND NOT e.test AND e.created_at > (SELECT r.up_to FROM disclosure_roll_up r)
                 OFFSET 0) v
           JOIN event_types t ON t.name = v.type AND t.scope IS NOT NULL
           CROSS JOIN LATERAL ${DELIVERIES_OF_EVENT} d
       )`;

/** The words for the scope of `a` in a language; its name if it is no longer in the catalogue. */
const wordsOfScope = (language: string, accountData: string): string =>
  `coalesce(s.translations ->> ${language}, s.description, nullif(a.scope, ${accountData}))`;

// Nobody reads more of them.
const FORMER_MAX = 200;

/** What users see of what was read (contract §26). In SQL: the sums go together with the deliveries that are not in them yet. */
@Injectable()
export class DisclosureHistoryRepository {
  constructor(
    @InjectRepository(DisclosureDayEntity) private readonly days: Repository<DisclosureDayEntity>,
  ) {}

  /** A client that the user ever consented to, and when the consent ended; undefined if there was none. */
  async findClient(userId: string, clientId: string): Promise<Omit<DisclosureHistory, 'kinds'> | undefined> {
    const [found]: { id: string; name: string; endedAt: Date | null }[] = await this.days.query(
      `SELECT c.id, c.name, n.revoked_at AS "endedAt" FROM consents n JOIN clients c ON c.id = n.client_id
        WHERE n.user_id = $1 AND n.client_id = $2`,
      [userId, clientId],
    );
    return found && { client: { id: found.id, name: found.name }, endedAt: found.endedAt };
  }

  /** What the client read of the user's data, newest day first. A scope that is no longer in the catalogue stands for itself. */
  kindsOf(userId: string, clientId: string, language: Language): Promise<DisclosedKind[]> {
    return this.days.query(
      `WITH ${LATER}
       SELECT a.day::text AS day, a.scope,
              ${wordsOfScope('$3', '$4')} AS description,
              sum(a.requests)::float8 AS requests, sum(a.deliveries)::float8 AS deliveries
         FROM (SELECT y.day, y.scope, y.requests, y.deliveries FROM disclosure_days y
                WHERE y.user_id = $1 AND y.client_id = $2
               UNION ALL
               SELECT l.day, l.scope, 0, count(*) FROM later l WHERE l.client_id = $2 GROUP BY 1, 2) a
         LEFT JOIN scopes s ON s.name = a.scope
        WHERE a.day >= ${FIRST_DAY}
        GROUP BY a.day, a.scope, 3 ORDER BY a.day DESC, a.scope`,
      [userId, clientId, language, ACCOUNT_DATA],
    );
  }

  /** What every client read of the user's data, newest day first. */
  list(userId: string, limit: number, language: Language): Promise<ReadOnDay[]> {
    return this.days.query(
      `WITH ${LATER}
       SELECT a.day::text AS day, a.client_id, c.name AS application, a.scope, ${wordsOfScope('$3', '$4')} AS words,
              sum(a.requests)::float8 AS requests, sum(a.deliveries)::float8 AS deliveries
         FROM (SELECT y.client_id, y.day, y.scope, y.requests, y.deliveries FROM disclosure_days y WHERE y.user_id = $1
               UNION ALL
               SELECT l.client_id, l.day, l.scope, 0, count(*) FROM later l GROUP BY 1, 2, 3) a
         LEFT JOIN clients c ON c.id = a.client_id
         LEFT JOIN scopes s ON s.name = a.scope
        WHERE a.day >= ${FIRST_DAY}
        GROUP BY a.day, a.client_id, c.name, a.scope, 5 ORDER BY a.day DESC, a.client_id, a.scope LIMIT $2`,
      [userId, limit, language, ACCOUNT_DATA],
    );
  }

  /** The last day on which each of these clients read something. */
  lastReads(userId: string, clientIds: readonly string[]): Promise<{ clientId: string; day: string }[]> {
    return this.days.query(
      `WITH ${LATER}
       SELECT a.client_id AS "clientId", max(a.day)::text AS day
         FROM (SELECT y.client_id, y.day FROM disclosure_days y WHERE y.user_id = $1 AND y.client_id = ANY ($2)
               UNION ALL
               SELECT l.client_id, l.day FROM later l WHERE l.client_id = ANY ($2)) a
        WHERE a.day >= ${FIRST_DAY} GROUP BY a.client_id`,
      [userId, clientIds],
    );
  }

  /** Clients that the user no longer shares data with and that have read some, most recently ended first. */
  formerClients(userId: string): Promise<FormerClient[]> {
    return this.days.query(
      `WITH ${LATER}
       SELECT c.id, c.name, n.revoked_at AS "endedAt" FROM consents n JOIN clients c ON c.id = n.client_id
        WHERE n.user_id = $1 AND n.revoked_at IS NOT NULL
          AND (EXISTS (SELECT 1 FROM disclosure_days y
                        WHERE y.user_id = n.user_id AND y.client_id = n.client_id AND y.day >= ${FIRST_DAY})
               OR n.client_id IN (SELECT l.client_id FROM later l))
        ORDER BY n.revoked_at DESC, c.id LIMIT ${FORMER_MAX}`,
      [userId],
    );
  }
}
