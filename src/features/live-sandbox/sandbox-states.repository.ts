import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

// More than the page shows.
const DELIVERIES = 50;

/** The watched sandbox, and the session that watches it. */
export interface Follower {
  clientId: string;
  ownerId: string;
  sessionDigest: Buffer;
}

@Injectable()
export class SandboxStatesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * For each follower whose session is active, a text that changes whenever the page of its sandbox would. In SQL: one statement for all
   * followers of this instance, over several modules' tables.
   */
  async read(followers: readonly Follower[]): Promise<{ sessionDigest: Buffer; state: string }[]> {
    return this.dataSource.query(
      `WITH follower AS (
         SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[]) AS f (digest, client_id, owner_id)
          WHERE EXISTS (SELECT FROM portal_sessions s WHERE s.digest = f.digest AND s.expires_at > now())
             OR EXISTS (SELECT FROM portal_member_sessions s WHERE s.digest = f.digest AND s.expires_at > now())
       ), state AS (
         SELECT c.client_id, concat_ws(' ',
                  (SELECT md5(string_agg(concat_ws(' ', d.id, d.state, d.attempts), ' '))
                     FROM (SELECT id, state, attempts FROM deliveries WHERE client_id = c.client_id
                            ORDER BY id DESC LIMIT ${DELIVERIES}) d),
                  (SELECT r.id FROM client_requests r WHERE r.client_id = c.client_id
                    ORDER BY r.occurred_at DESC, r.id DESC LIMIT 1),
                  (SELECT md5(string_agg(concat_ws(' ', f.target, f.kind, f.remaining, f.expires_at), ' ' ORDER BY f.target))
                     FROM sandbox_faults f WHERE f.client_id = c.client_id),
                  (SELECT concat_ws(' ', count(*), min(p.id), max(p.id)) FROM sandbox_planned_events p
                    WHERE p.owner_id = c.owner_id)) AS state
           FROM (SELECT DISTINCT client_id, owner_id FROM follower) c
       )
       SELECT digest AS "sessionDigest", state FROM follower JOIN state USING (client_id)`,
      [
        followers.map(({ sessionDigest }) => sessionDigest),
        followers.map(({ clientId }) => clientId),
        followers.map(({ ownerId }) => ownerId),
      ],
    );
  }
}
