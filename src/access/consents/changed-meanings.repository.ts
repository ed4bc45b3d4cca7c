import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ChangedMeaning } from '#access/scopes/scopes.service.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
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

/** A position in the order of client and user. */
export type Place = Pick<ConsentAskedAnew, 'clientId' | 'userId'>;

/** The consents after one position, up to another, or to the last one. */
export interface Stretch {
  after: Place;
  upTo: Place | undefined;
}

// Whether a consent (`k`) is stale for a scope ($1) whose meaning changed at a time ($2): the user agreed to the scope, and has
// not seen it since. Consents that an operator recorded since then, or that were given elsewhere since then, are for the new words.
const IS_STALE = `${consentIsLive('k')} AND $1 = ANY (k.scopes) AND $1 <> ALL (k.words_changed)
  AND NOT EXISTS (
    SELECT 1 FROM consent_versions v LEFT JOIN consent_words w ON w.digest = v.words_digest
     WHERE v.client_id = k.client_id AND v.user_id = k.user_id AND v.recorded_at > $2::timestamptz AND $1 = ANY (v.scopes)
       AND (v.method = 'operator' OR (v.method = 'import' AND v.granted_at > $2::timestamptz) OR (v.method IN ('page', 'account', 'sandbox')
            AND w.words::jsonb -> 'access' @> jsonb_build_array(jsonb_build_object('scope', $1::text)))))`;

const WITHIN = `(k.client_id, k.user_id) > ($3, $4) AND ($5::text IS NULL OR (k.client_id, k.user_id) <= ($5, $6))`;
const parametersOf = ({ after, upTo }: Stretch): unknown[] => [
  ...[after.clientId, after.userId],
  ...[upTo?.clientId ?? null, upTo?.userId ?? null],
];

/** Sets an end for consents to a scope whose meaning changed. In SQL, because the consent record decides which are stale. */
@Injectable()
export class ChangedMeaningsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The position so many consents after another; undefined if there are fewer. */
  async placeAfter({ clientId, userId }: Place, consents: number): Promise<Place | undefined> {
    const [place]: Place[] = await this.dataSource.query(
      `SELECT client_id AS "clientId", user_id AS "userId" FROM consents WHERE (client_id, user_id) > ($1, $2)
        ORDER BY client_id, user_id OFFSET $3 LIMIT 1`,
      [clientId, userId, consents - 1],
    );
    return place;
  }

  /** Up to `limit` consents that may be stale, by client and user; locked until the transaction ends. Rows locked by others are skipped. */
  lockSome({ name, changedAt }: ChangedMeaning, stretch: Stretch, limit: number): Promise<Place[]> {
    requireTransaction('A lock that is to last');
    return this.dataSource.query(
      `SELECT k.client_id AS "clientId", k.user_id AS "userId" FROM consents k
        WHERE ${WITHIN} AND ${IS_STALE}
        ORDER BY k.client_id, k.user_id LIMIT $7 FOR NO KEY UPDATE OF k SKIP LOCKED`,
      [name, changedAt, ...parametersOf(stretch), limit],
    );
  }

  /**
   * Makes these consents end after at most this many days, if they are stale. A separate statement after the locks, so that it
   * sees what was agreed before they were taken.
   */
  async giveEnd(
    { name, changedAt }: ChangedMeaning,
    places: Place[],
    days: number,
  ): Promise<ConsentAskedAnew[]> {
    const [rows]: [ConsentAskedAnew[], number] = await this.dataSource.query(
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

  /** Whether any of these consents has yet to be given an end. */
  async isAnyLeft({ name, changedAt }: ChangedMeaning, stretch: Stretch): Promise<boolean> {
    const [row]: { left: boolean }[] = await this.dataSource.query(
      `SELECT EXISTS (SELECT 1 FROM consents k WHERE ${WITHIN} AND ${IS_STALE}) AS "left"`,
      [name, changedAt, ...parametersOf(stretch)],
    );
    return row!.left;
  }
}
