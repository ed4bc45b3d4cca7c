import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { ChangedMeaning } from '../scopes/scopes.service.js';
import { consentIsLive } from './consent.sql.js';

/** A consent that was given an end, with its previous one. */
export interface ConsentAskedAnew {
  clientId: string;
  userId: string;
  scopes: string[];
  expiresBefore: Date | null;
  expiresAt: Date;
  wordsChangedBefore: string[];
  wordsChanged: string[];
}

/** The position of the last row of a batch; the next batch starts after it. */
export type Place = Pick<ConsentAskedAnew, 'clientId' | 'userId'>;

// Whether a consent (`k`) is stale for a scope ($1) whose meaning changed at a time ($2): the user agreed to the scope, and has
// not seen it since. Consents that an operator recorded since then are for the new words.
const IS_STALE = `${consentIsLive('k')} AND $1 = ANY (k.scopes) AND $1 <> ALL (k.words_changed)
  AND NOT EXISTS (
    SELECT 1 FROM consent_versions v LEFT JOIN consent_words w ON w.digest = v.words_digest
     WHERE v.client_id = k.client_id AND v.user_id = k.user_id AND v.recorded_at > $2::timestamptz AND $1 = ANY (v.scopes)
       AND (v.method = 'operator' OR (v.method IN ('page', 'account', 'sandbox')
            AND w.words::jsonb -> 'access' @> jsonb_build_array(jsonb_build_object('scope', $1::text)))))`;

/** Sets an end for consents to a scope whose meaning changed. In SQL, because the consent record decides which are stale. */
@Injectable()
export class ChangedMeaningsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Up to `limit` consents that may be stale, by client and user, after the given position; locked until the transaction ends.
   * Rows locked by others are skipped.
   */
  lockSome(
    manager: EntityManager,
    { name, changedAt }: ChangedMeaning,
    after: Place,
    limit: number,
  ): Promise<Place[]> {
    return manager.query(
      `SELECT k.client_id AS "clientId", k.user_id AS "userId" FROM consents k
        WHERE (k.client_id, k.user_id) > ($3, $4) AND ${IS_STALE}
        ORDER BY k.client_id, k.user_id LIMIT $5 FOR NO KEY UPDATE OF k SKIP LOCKED`,
      [name, changedAt, after.clientId, after.userId, limit],
    );
  }

  /**
   * Makes these consents end after at most this many days, if they are stale. A separate statement after the locks, so that it
   * sees what was agreed before they were taken.
   */
  async giveEnd(
    manager: EntityManager,
    { name, changedAt }: ChangedMeaning,
    places: Place[],
    days: number,
  ): Promise<ConsentAskedAnew[]> {
    const [rows]: [ConsentAskedAnew[], number] = await manager.query(
      `WITH before AS (
         SELECT k.client_id, k.user_id, k.expires_at, k.words_changed
           FROM consents k JOIN unnest($3::text[], $4::text[]) AS p (client_id, user_id) USING (client_id, user_id)
          WHERE ${IS_STALE}
       )
       UPDATE consents k
          SET words_changed = array_append(k.words_changed, $1), method = 'service', reason = 'words_changed', recorded_by = NULL,
              expires_at = least(k.expires_at, now() + make_interval(days => $5))
         FROM before b WHERE k.client_id = b.client_id AND k.user_id = b.user_id
       RETURNING k.client_id AS "clientId", k.user_id AS "userId", k.scopes, b.expires_at AS "expiresBefore", k.expires_at AS "expiresAt",
                 b.words_changed AS "wordsChangedBefore", k.words_changed AS "wordsChanged"`,
      [name, changedAt, places.map(({ clientId }) => clientId), places.map(({ userId }) => userId), days],
    );
    return rows;
  }

  /** Whether any consent has yet to be given an end. */
  async isAnyLeft({ name, changedAt }: ChangedMeaning): Promise<boolean> {
    const [row]: { left: boolean }[] = await this.dataSource.query(
      `SELECT EXISTS (SELECT 1 FROM consents k WHERE ${IS_STALE}) AS "left"`,
      [name, changedAt],
    );
    return row!.left;
  }
}
