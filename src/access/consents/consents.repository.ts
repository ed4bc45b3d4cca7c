import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, Repository } from 'typeorm';
import { consentIsLive } from './consent.sql.js';
import { batched } from '#platform/database/queries/batched.js';
import { arrayParameter, Statements } from '#platform/database/queries/statements.js';
import {
  readPage,
  readPageBySql,
  type Page,
  type PageRequest,
  countUpTo,
} from '#platform/database/queries/read-page.js';
import type { ConsentEnd, ConsentMethod } from './consent-terms.js';
import { ConsentEntity, type ConsentedUser } from './consent.entity.js';

// As JSON and numbers, which are parsed several times as fast as an array and a date.
const inMilliseconds = (column: string): string => `floor(extract(epoch FROM ${column}) * 1000)::float8`;
const SCOPES_AND_TIMES = `to_json(c.scopes) AS scopes, ${inMilliseconds('c.granted_at')} AS "grantedAt",
              ${inMilliseconds('c.expires_at')} AS "expiresAt"`;

/** A user and a client. The database refuses a user of another realm than the client's. */
export interface ConsentPair {
  clientId: string;
  userId: string;
  realm: string;
}

/** What a user agrees to on a page; `declined` are optional scopes that were shown and not chosen. */
export interface GivenConsent {
  scopes: string[];
  declined: string[];
  purposes: string[];
  method: ConsentMethod;
  /** Null: for as long as the user wants. */
  expiryDays: number | null;
  /** What the user saw. */
  words: ShownWords;
}

/** The digest of the stored words (`ConsentWordsRepository`). */
interface ShownWords {
  digest: Buffer;
  language: string;
}

/** A consent that was given elsewhere. */
export interface RecordedConsent {
  scopes: string[];
  purposes: string[];
  evidence: string | null;
  recordedBy: string | null;
  method: ConsentMethod;
  expiryDays: number | null;
}

/** A consent that was given in another system, with its proof. */
export interface ImportedConsent {
  clientId: string;
  userId: string;
  scopes: string[];
  grantedAt: Date;
  expiresAt: Date | null;
  evidence: string;
}

/** How and why a consent ends. */
export interface Ending {
  method: ConsentMethod;
  reason: ConsentEnd;
  recordedBy?: string | null;
}

const AS_GIVEN = `method = excluded.method, reason = NULL, recorded_by = excluded.recorded_by, language = excluded.language,
         words_digest = excluded.words_digest, purposes = excluded.purposes`;
/** No words are shown when a consent ends. */
const ENDED = { recordedBy: null, language: null, wordsDigest: null };

// The advisory locks for the first consent of a client and user.
const FIRST_CONSENT = 1_702_260_342;

@Injectable()
export class ConsentsRepository {
  constructor(
    @InjectRepository(ConsentEntity) private readonly consents: Repository<ConsentEntity>,
    private readonly statements: Statements,
  ) {}

  /** The active consent of this user to this client. */
  findLive(clientId: string, userId: string): Promise<ConsentEntity | null> {
    return this.consents
      .createQueryBuilder('consent')
      .where({ clientId, userId })
      .andWhere(consentIsLive('consent'))
      .getOne();
  }

  /** The consent of this user to this client, active or not, locked until the transaction ends. */
  lock(clientId: string, userId: string): Promise<ConsentEntity | null> {
    return this.consents.findOne({ where: { clientId, userId }, lock: { mode: 'for_no_key_update' } });
  }

  /**
   * The same, for a caller that creates the consent if it does not exist: of two concurrent ones, the second waits and finds the consent of
   * the first.
   */
  async lockPair(clientId: string, userId: string): Promise<ConsentEntity | null> {
    const found = await this.lock(clientId, userId);
    if (found) return found;
    await this.consents.manager.query(`SELECT pg_advisory_xact_lock(${FIRST_CONSENT}::int, hashtext($1))`, [
      `${clientId} ${userId}`,
    ]);
    return this.lock(clientId, userId);
  }

  /** The time of the transaction, by the database's clock. In SQL, because it reads no table. */
  async now(): Promise<Date> {
    const [row]: { now: Date }[] = await this.consents.manager.query('SELECT now() AS now');
    return row!.now;
  }

  /** The ids of the clients to which the user has an active consent, which is locked until the transaction ends. */
  async lockLiveClients(userId: string): Promise<string[]> {
    const live = await this.consents
      .createQueryBuilder('consent')
      .select(['consent.clientId', 'consent.userId'])
      .where({ userId })
      .andWhere(consentIsLive('consent'))
      .orderBy('consent.clientId')
      .setLock('pessimistic_read')
      .getMany();
    return live.map(({ clientId }) => clientId);
  }

  /**
   * Adds given scopes to a consent, removes declined ones, and creates or renews it if necessary. An ended consent starts again
   * with only the given scopes. If the page did not show what has to be seen to renew the consent, that keeps its end. In SQL,
   * because the new values depend on the existing row: one statement, so that concurrent approvals both count.
   */
  async add(
    { clientId, userId, realm }: ConsentPair,
    { scopes, declined, purposes, method, expiryDays, words }: GivenConsent,
  ): Promise<void> {
    await this.consents.manager.query(
      `INSERT INTO consents AS c (client_id, user_id, scopes, realm, method, expires_at, language, words_digest, purposes)
       VALUES ($1, $2, $3, $4, $6, now() + make_interval(days => $7), $8, $9, $10)
       ON CONFLICT (client_id, user_id) DO UPDATE SET
         scopes = CASE WHEN ${consentIsLive('c')}
                       THEN ARRAY(SELECT DISTINCT s FROM unnest(c.scopes || excluded.scopes) s WHERE s <> ALL ($5) ORDER BY 1)
                       ELSE excluded.scopes END,
         granted_at = CASE WHEN ${consentIsLive('c')} THEN c.granted_at ELSE now() END,
         evidence = CASE WHEN ${consentIsLive('c')} THEN c.evidence END,
         expires_at = CASE WHEN ${consentIsLive('c')} AND NOT CASE c.words_changed WHEN '{}' THEN c.scopes ELSE c.words_changed END <@ (excluded.scopes || $5::text[])
                           THEN least(c.expires_at, excluded.expires_at) ELSE excluded.expires_at END,
         words_changed = CASE WHEN ${consentIsLive('c')}
                              THEN ARRAY(SELECT w FROM unnest(c.words_changed) w WHERE w <> ALL (excluded.scopes || $5::text[])) ELSE '{}' END,
         revoked_at = NULL, ${AS_GIVEN}`,
      [clientId, userId, scopes, realm, declined, method, expiryDays, words.language, words.digest, purposes],
    );
  }

  /** Replaces a consent, and creates or renews it if necessary. In SQL, because its expiry depends on the existing row. */
  async replace(
    { clientId, userId, realm }: ConsentPair,
    { scopes, purposes, evidence, recordedBy, method, expiryDays }: RecordedConsent,
  ): Promise<void> {
    await this.consents.manager.query(
      `INSERT INTO consents AS c (client_id, user_id, scopes, evidence, realm, method, expires_at, recorded_by, purposes)
       VALUES ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7), $8, $9)
       ON CONFLICT (client_id, user_id) DO UPDATE SET
         scopes = excluded.scopes,
         evidence = excluded.evidence,
         granted_at = CASE WHEN ${consentIsLive('c')} THEN c.granted_at ELSE now() END,
         expires_at = excluded.expires_at, words_changed = '{}', revoked_at = NULL, ${AS_GIVEN}`,
      [clientId, userId, scopes, evidence, realm, method, expiryDays, recordedBy, purposes],
    );
  }

  /**
   * Stores a consent that was given elsewhere, unless there is an active one, or one that ended after this was given; then it returns
   * false. In SQL, because the existing row decides.
   */
  async import(
    { clientId, userId, realm }: ConsentPair,
    { scopes, grantedAt, expiresAt, evidence }: Omit<ImportedConsent, 'clientId' | 'userId'>,
    recordedBy: string | null,
  ): Promise<boolean> {
    const rows: unknown[] = await this.consents.manager.query(
      `INSERT INTO consents AS c (client_id, user_id, scopes, evidence, realm, method, granted_at, expires_at, recorded_by)
       VALUES ($1, $2, $3, $4, $5, 'import', $6, $7, $8)
       ON CONFLICT (client_id, user_id) DO UPDATE SET
         scopes = excluded.scopes, evidence = excluded.evidence, granted_at = excluded.granted_at,
         expires_at = excluded.expires_at, words_changed = '{}', revoked_at = NULL, ${AS_GIVEN}
         WHERE c.revoked_at <= excluded.granted_at
       RETURNING 1`,
      [clientId, userId, scopes, evidence, realm, grantedAt, expiresAt, recordedBy],
    );
    return rows.length === 1;
  }

  /** Changes the scopes of an active consent as its user chose on the account page; false if not found. */
  async change(
    { clientId, userId }: Omit<ConsentPair, 'realm'>,
    { scopes, purposes, words, expiryDays }: Omit<GivenConsent, 'declined' | 'method'>,
  ): Promise<boolean> {
    const [, changed]: [unknown[], number] = await this.consents.manager.query(
      `UPDATE consents c SET scopes = $3, method = 'account', reason = NULL, recorded_by = NULL, language = $4, words_digest = $5,
              expires_at = now() + make_interval(days => $6), purposes = $7, words_changed = '{}'
        WHERE client_id = $1 AND user_id = $2 AND ${consentIsLive('c')}`,
      [clientId, userId, scopes, words.language, words.digest, expiryDays, purposes],
    );
    return changed === 1;
  }

  /** Ends an active consent; false if not found. */
  async end(clientId: string, userId: string, ending: Ending): Promise<boolean> {
    const { affected } = await this.consents.update(
      { clientId, userId, revokedAt: IsNull() },
      { revokedAt: () => 'now()', ...ENDED, ...ending },
    );
    return affected === 1;
  }

  /** Ends an expired consent, as of its expiry; false if it has not expired. */
  async expire(clientId: string, userId: string): Promise<boolean> {
    const { affected } = await this.consents
      .createQueryBuilder()
      .update()
      .set({ revokedAt: () => 'expires_at', ...ENDED, method: 'schedule', reason: 'expired' })
      .where({ clientId, userId, revokedAt: IsNull() })
      .andWhere('expires_at <= now()')
      .execute();
    return affected === 1;
  }

  /**
   * Ends all active consents of a user who is erased. Returns every client that has or had one, by id, and whether it was active. In
   * SQL, because one statement changes rows and reads others.
   */
  endAll(userId: string): Promise<{ clientId: string; wasLive: boolean }[]> {
    return this.consents.manager.query(
      `WITH ended AS (
         UPDATE consents SET revoked_at = now(), method = 'service', reason = 'user_erased', recorded_by = NULL, language = NULL,
                words_digest = NULL
          WHERE user_id = $1 AND revoked_at IS NULL RETURNING client_id
       )
       SELECT c.client_id AS "clientId", e.client_id IS NOT NULL AS "wasLive"
         FROM consents c LEFT JOIN ended e ON e.client_id = c.client_id
        WHERE c.user_id = $1 ORDER BY c.client_id`,
      [userId],
    );
  }

  /**
   * One page of the users who share data with the client, by user id; with `userId`, only that user. A prepared statement, because
   * many requests of partners wait for it.
   */
  async listLive(
    clientId: string,
    userId: string | undefined,
    page: PageRequest,
  ): Promise<Page<ConsentedUser>> {
    return readPageBySql(page, 'c.user_id', 'asc', (part) => {
      const params: unknown[] = [clientId];
      const { where, orderAndLimit, name } = part(params);
      const user = userId === undefined ? 'true' : `c.user_id = $${params.push(userId)}`;
      return this.statements.run(
        `live consents${userId === undefined ? '' : ' of a user'}, ${name}`,
        `SELECT u.id, u.email, u.name, u.role, ${SCOPES_AND_TIMES}
           FROM consents c JOIN users u ON u.id = c.user_id AND u.enabled
          WHERE c.client_id = $1 AND ${consentIsLive('c')} AND ${user} AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }

  /** A user who shares data with the client. Concurrent calls share one query, which is prepared as above. */
  readonly findUser = batched<{ clientId: string; userId: string }, ConsentedUser | undefined>(
    async (pairs) => {
      const rows = await this.statements.run<ConsentedUser & { clientId: string }>(
        'consented users',
        `SELECT c.client_id AS "clientId", u.id, u.email, u.name, u.role, ${SCOPES_AND_TIMES}
           FROM (SELECT DISTINCT * FROM unnest(${arrayParameter(1, 'text')}, ${arrayParameter(2, 'text')}) AS p (client_id, user_id)) AS p
           JOIN consents c ON c.client_id = p.client_id AND c.user_id = p.user_id AND ${consentIsLive('c')}
           JOIN users u ON u.id = c.user_id AND u.enabled`,
        [pairs.map(({ clientId }) => clientId), pairs.map(({ userId }) => userId)],
      );
      const found = new Map(rows.map((row) => [`${row.clientId} ${row.id}`, row]));
      return pairs.map(({ clientId, userId }) => found.get(`${clientId} ${userId}`));
    },
  );

  /** The consents of a user, including revoked ones, newest first, up to a limit. */
  listOf(userId: string, limit: number): Promise<ConsentEntity[]> {
    return this.consents.find({ where: { userId }, order: { grantedAt: 'DESC' }, take: limit });
  }

  /** All consents to these clients, ended ones too, by client and user. */
  listAll(clientIds: string[]): Promise<ConsentEntity[]> {
    return this.consents.find({
      where: { clientId: In(clientIds) },
      order: { clientId: 'ASC', userId: 'ASC' },
    });
  }

  /** The number of users with an active consent to the client, counted up to a limit. */
  countLive(clientId: string, limit: number): Promise<number> {
    const query = this.consents
      .createQueryBuilder('consent')
      .where({ clientId })
      .andWhere(consentIsLive('consent'));
    return countUpTo(limit, query);
  }

  /** The same without those of disabled users, which count as not given. */
  countSharing(clientId: string, limit: number): Promise<number> {
    const query = this.consents
      .createQueryBuilder('consent')
      .where({ clientId })
      .andWhere(consentIsLive('consent'))
      .andWhere('EXISTS (SELECT 1 FROM users u WHERE u.id = consent.user_id AND u.enabled)');
    return countUpTo(limit, query);
  }

  /** How many consents of enabled users end within this many days, counted up to a limit, and the day in UTC by the same clock. */
  async countEnding(
    clientId: string,
    { days, limit }: { days: number; limit: number },
  ): Promise<{ count: number; day: string }> {
    const [row]: { count: number; day: string }[] = await this.consents.manager.query(
      `SELECT count(*)::integer AS count, to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
         FROM (SELECT 1 FROM consents c JOIN users u ON u.id = c.user_id AND u.enabled
                WHERE c.client_id = $1 AND c.revoked_at IS NULL AND c.expires_at > now()
                  AND c.expires_at <= now() + make_interval(days => $2)
                LIMIT $3) ending`,
      [clientId, days, limit],
    );
    return row!;
  }

  /** One page of the client's consents, including revoked ones, by user id. */
  list(clientId: string, page: PageRequest): Promise<Page<ConsentEntity>> {
    const query = this.consents
      .createQueryBuilder('consent')
      .where('consent.clientId = :clientId', { clientId });
    return readPage(page, 'consent.userId', 'asc', query);
  }
}
