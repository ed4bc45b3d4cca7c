import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { readPage, type Page, type PageRequest, countUpTo } from '#platform/database/queries/read-page.js';
import type { Language } from '#platform/language/languages.js';
import { MailEntity, type MailKind, type MailState, type OptionalMailKind } from './mail.entity.js';

/** The channel on which transactions announce that there is mail to send. */
export const MAIL_CHANNEL = 'mails';
/** Contract §18: how long a holder may take; then another instance takes over. */
const LEASE_SECONDS = 60;
/** Contract §18: how long a mail is retried. */
const RETRIED_FOR = "interval '24 hours'";

export interface MailRow {
  id: string;
  kind: MailKind;
  userId: string | null;
  clientId: string | null;
  address: string;
  cause: string;
  usefulSeconds: number | null;
  sealedContent: Buffer;
}

/** A mail under a lease. */
export interface ClaimedMail {
  id: string;
  leaseId: string;
  kind: MailKind;
  address: string;
  sealedContent: Buffer;
  /** Including this one. */
  attempts: number;
  /** Whether it has waited for 24 hours. */
  isTooOld: boolean;
  /** Whether its link has expired. */
  isUseless: boolean;
}

export type MailResult =
  | { state: 'sent' }
  | { state: 'failed'; error: string }
  | { state: 'pending'; error: string; waitSeconds: number };

/** The user to whom a mail may be sent. */
export interface Recipient {
  email: string;
  isVerified: boolean;
  unwanted: OptionalMailKind[];
  language: Language | null;
}

/** All given members must match. */
export interface MailFilter {
  userId?: string;
  /** With a user: also those to this address that belong to no user. */
  address?: string;
  state?: MailState;
}

/** An address for comparisons, not by the rules of the database's language: by Turkish ones, `I` is no capital `i`. */
const inAnyCase = (address: string): string => `lower(${address} COLLATE "C")`;

/** The queue of mails. In SQL where rows are skipped, leased or fenced, which the query builder does not support. */
@Injectable()
export class MailsRepository {
  constructor(@InjectRepository(MailEntity) private readonly mails: Repository<MailEntity>) {}

  async recipient(userId: string): Promise<Recipient | undefined> {
    const rows: Recipient[] = await this.mails.manager.query(
      `SELECT email, email_verified_at IS NOT NULL AS "isVerified", unwanted_mails AS unwanted, language
         FROM users WHERE id = $1`,
      [userId],
    );
    return rows[0];
  }

  /** Adds a mail and announces it at the commit; false if its cause already has one. */
  async insert(mail: MailRow): Promise<boolean> {
    const rows: unknown[] = await this.mails.manager.query(
      `WITH added AS (
         INSERT INTO mails (id, kind, user_id, client_id, address, cause, sealed_content, useful_until)
         VALUES ($1, $2, $3, $4, $5, $6, $7, now() + make_interval(secs => $8)) ON CONFLICT (cause) DO NOTHING RETURNING id
       )
       SELECT pg_notify('${MAIL_CHANNEL}', '') FROM added`,
      [
        ...[mail.id, mail.kind, mail.userId, mail.clientId, mail.address, mail.cause, mail.sealedContent],
        mail.usefulSeconds,
      ],
    );
    return rows.length === 1;
  }

  /** Claims up to `limit` due mails, oldest first. Rows that another instance is claiming are skipped. */
  async claim(leaseId: string, limit: number): Promise<ClaimedMail[]> {
    const [rows]: [ClaimedMail[], number] = await this.mails.query(
      `UPDATE mails
          SET lease_id = $1, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), attempts = attempts + 1
        WHERE id = ANY (ARRAY(
          SELECT id FROM mails
           WHERE state = 'pending' AND next_attempt_at <= now() AND (lease_until IS NULL OR lease_until <= now())
           ORDER BY next_attempt_at LIMIT $2 FOR UPDATE SKIP LOCKED))
       RETURNING id, lease_id AS "leaseId", kind, address, sealed_content AS "sealedContent", attempts,
                 created_at <= now() - ${RETRIED_FOR} AS "isTooOld",
                 coalesce(useful_until <= now(), false) AS "isUseless"`,
      [leaseId, limit],
    );
    return rows;
  }

  /**
   * Writes the result and ends the lease; a mail that would be retried for more than 24 hours has failed. Returns the state;
   * undefined if another holder took the mail over, whose result counts.
   */
  async finish({ id, leaseId }: ClaimedMail, result: MailResult): Promise<MailState | undefined> {
    const [rows]: [{ state: MailState }[], number] = await this.mails.query(
      `WITH result AS (
         SELECT m.id, CASE WHEN $3 = 'pending' AND m.created_at + ${RETRIED_FOR} <= now() + make_interval(secs => $5)
                           THEN 'failed' ELSE $3 END AS state
           FROM mails m WHERE m.id = $1 AND m.lease_id = $2 AND m.state = 'pending' FOR NO KEY UPDATE
       )
       UPDATE mails m
          SET state = r.state, last_error = $4, lease_id = NULL, lease_until = NULL,
              next_attempt_at = now() + make_interval(secs => $5),
              sent_at = CASE WHEN r.state = 'sent' THEN now() END,
              finished_at = CASE WHEN r.state <> 'pending' THEN now() END,
              sealed_content = CASE WHEN r.state = 'pending' THEN m.sealed_content END
         FROM result r WHERE m.id = r.id
       RETURNING m.state`,
      [
        id,
        leaseId,
        result.state,
        'error' in result ? result.error : null,
        result.state === 'pending' ? result.waitSeconds : 0,
      ],
    );
    return rows[0]?.state;
  }

  /** Gives a lease back: the attempt does not count, and any instance may try at once. */
  async giveBack({ id, leaseId }: ClaimedMail): Promise<void> {
    await this.mails.query(
      `UPDATE mails SET lease_id = NULL, lease_until = NULL, attempts = attempts - 1 WHERE id = $1 AND lease_id = $2`,
      [id, leaseId],
    );
  }

  /** The number of pending mails, counted up to 10,000. */
  countPending(): Promise<number> {
    // A literal, so that the partial index of waiting mails can be used.
    const query = this.mails.createQueryBuilder('mail').where("mail.state = 'pending'");
    return countUpTo(10_000, query);
  }

  /** Waiting mails with ids beyond one, in order. */
  async sealedAfter(id: string, limit: number): Promise<{ id: string; sealedContent: Buffer }[]> {
    return this.mails.query(
      `SELECT id, sealed_content AS "sealedContent" FROM mails WHERE state = 'pending' AND id > $1 ORDER BY id LIMIT $2`,
      [id, limit],
    );
  }

  /** Replaces sealed content; false if the mail is no longer waiting. */
  async replaceSealed(id: string, sealedContent: Buffer): Promise<boolean> {
    const { affected } = await this.mails.update({ id, state: 'pending' }, { sealedContent });
    return affected === 1;
  }

  /** One page, newest first. */
  list({ userId, address, state }: MailFilter, page: PageRequest): Promise<Page<MailEntity>> {
    const query = this.mails.createQueryBuilder('mail');
    if (address !== undefined) {
      query.andWhere(
        `(mail.userId = :userId OR mail.userId IS NULL AND ${inAnyCase('mail.address')} = ${inAnyCase(':address')})`,
        {
          userId,
          address,
        },
      );
    } else if (userId !== undefined) query.andWhere('mail.userId = :userId', { userId });
    if (state !== undefined) query.andWhere('mail.state = :state', { state });
    return readPage(page, 'mail.id', 'desc', query);
  }

  /** Deletes the mails to an address that belong to no user; those of a user go with the user. */
  async deleteByAddress(address: string): Promise<void> {
    await this.mails
      .createQueryBuilder()
      .delete()
      .where(`userId IS NULL AND ${inAnyCase('address')} = ${inAnyCase(':address')}`, { address })
      .execute();
  }
}
