import { Injectable } from '@nestjs/common';
import { DataSource, Entity, PrimaryColumn } from 'typeorm';

/** Records that the user and the client were told when a consent will end. */
@Entity('consent_notices')
export class ConsentNoticeEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('text') userId!: string;
  @PrimaryColumn('timestamptz') expiresAt!: Date;
}

/** A consent that expires. */
export interface EndingConsent {
  clientId: string;
  userId: string;
  clientName: string;
  organisation: string | null;
  logoId: string | null;
  scopes: string[];
  expiresAt: Date;
}

/** A position in the order of their ends; the end as PostgreSQL writes it, to the microsecond. */
export interface PlaceOfEnd {
  expiresAt: string;
  clientId: string;
  userId: string;
}

/** The ends after one position, up to another, or to the last one. */
export interface StretchOfEnds {
  after: PlaceOfEnd;
  upTo: PlaceOfEnd | undefined;
}

/** When the consent `k` was last given or renewed; elsewhere, if it was imported. */
const BEGUN = `(SELECT CASE v.method WHEN 'import' THEN v.granted_at ELSE v.recorded_at END FROM consent_versions v
                 WHERE v.client_id = k.client_id AND v.user_id = k.user_id AND v.event <> 'ended'
                   AND v.reason IS DISTINCT FROM 'words_changed'
                 ORDER BY v.number DESC LIMIT 1)`;

/** The ends of the stretch, as an index has them. */
const ENDS = `
  SELECT expires_at, client_id, user_id FROM consents
   WHERE revoked_at IS NULL AND expires_at > now() AND expires_at <= now() + make_interval(days => $1::int)
     AND (expires_at, client_id, user_id) > ($2::timestamptz, $3, $4)
     AND ($5::timestamptz IS NULL OR (expires_at, client_id, user_id) <= ($5::timestamptz, $6, $7))`;

/** Those of them that were announced, as another one has them. */
const ANNOUNCED = ENDS.replace('FROM consents', 'FROM consent_notices').replace(
  'revoked_at IS NULL AND ',
  '',
);

/**
 * Consents (`k`) whose end has to be announced: in less than `$1` days, after half of the consent's time. Usually all were, which the
 * indexes of both tables tell; anything else is only looked up of the others.
 */
const TO_BE_TOLD = `FROM (${ENDS} EXCEPT ${ANNOUNCED}) untold
           JOIN consents k USING (expires_at, client_id, user_id)
           JOIN clients c ON c.id = k.client_id JOIN users u ON u.id = k.user_id AND u.enabled
          WHERE k.revoked_at IS NULL
            AND (k.reason IS NOT DISTINCT FROM 'words_changed'
                 OR k.expires_at - now() <= (k.expires_at - coalesce(${BEGUN}, k.granted_at)) / 2)`;

const parametersOf = ({ after, upTo }: StretchOfEnds): unknown[] => [
  ...[after.expiresAt, after.clientId, after.userId],
  ...[upTo?.expiresAt ?? null, upTo?.clientId ?? null, upTo?.userId ?? null],
];

/** Finds consents that have expired or soon will. In SQL: statements over several tables, which claim what they find. */
@Injectable()
export class ConsentExpiryRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Up to `limit` of the expired consents after the first `skipped`, the earliest first. */
  listOver(skipped: number, limit: number): Promise<{ clientId: string; userId: string }[]> {
    return this.dataSource.query(
      `SELECT client_id AS "clientId", user_id AS "userId" FROM consents
        WHERE revoked_at IS NULL AND expires_at <= now() ORDER BY expires_at, client_id, user_id OFFSET $1 LIMIT $2`,
      [skipped, limit],
    );
  }

  /** The position so many ends after another, of those in less than so many days; undefined if there are fewer. */
  async placeAfter(days: number, after: PlaceOfEnd, ends: number): Promise<PlaceOfEnd | undefined> {
    const [place]: PlaceOfEnd[] = await this.dataSource.query(
      `SELECT expires_at::text AS "expiresAt", client_id AS "clientId", user_id AS "userId" FROM consents
        WHERE revoked_at IS NULL AND expires_at > now() AND expires_at <= now() + make_interval(days => $1::int)
          AND (expires_at, client_id, user_id) > ($2::timestamptz, $3, $4)
        ORDER BY expires_at, client_id, user_id OFFSET $5 LIMIT 1`,
      [days, after.expiresAt, after.clientId, after.userId, ends - 1],
    );
    return place;
  }

  /** Whether any of these ends has to be announced. */
  async hasNotices(days: number, stretch: StretchOfEnds): Promise<boolean> {
    const [row]: { due: boolean }[] = await this.dataSource.query(
      `SELECT EXISTS (SELECT 1 ${TO_BE_TOLD}) AS due`,
      [days, ...parametersOf(stretch)],
    );
    return row!.due;
  }

  /**
   * Records that the end of up to `limit` of these consents is announced, and returns them, the earliest first: each end is announced once. For a
   * consent shorter than twice the notice, that is after half of its time; for one whose words changed their meaning, at once.
   */
  noteNotices(
    days: number,
    stretch: StretchOfEnds,
    limit: number,
  ): Promise<(EndingConsent & { place: PlaceOfEnd })[]> {
    return this.dataSource.query(
      `WITH due AS (
         SELECT k.client_id, k.user_id, k.expires_at, k.scopes, c.name, c.organisation, c.logo_id
           ${TO_BE_TOLD}
          ORDER BY k.expires_at, k.client_id, k.user_id LIMIT $8 FOR SHARE OF k SKIP LOCKED
       ), noted AS (
         INSERT INTO consent_notices (client_id, user_id, expires_at) SELECT client_id, user_id, expires_at FROM due
         ON CONFLICT DO NOTHING RETURNING client_id, user_id
       )
       SELECT client_id AS "clientId", user_id AS "userId", d.name AS "clientName", d.organisation, d.logo_id AS "logoId", d.scopes, d.expires_at AS "expiresAt",
              json_build_object('expiresAt', d.expires_at::text, 'clientId', client_id, 'userId', user_id) AS place
         FROM noted JOIN due d USING (client_id, user_id) ORDER BY d.expires_at, client_id, user_id`,
      [days, ...parametersOf(stretch), limit],
    );
  }
}
