import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { InputRows } from '#platform/database/queries/input-rows.js';
import { ACCOUNT_DATA, type Disclosure, type DisclosureBatch } from './disclosure.js';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A report that was counted (contract §26). */
@Entity('disclosure_batches')
export class DisclosureBatchEntity {
  /** The client that reported; empty for what this service served itself. */
  @PrimaryColumn('text') reporterId!: string;
  @PrimaryColumn('text') batchId!: string;
  @Column('bytea') bodyDigest!: Buffer;
  /** How many of its parts were counted. */
  @Column('integer') counted!: number;
  @TimeOfInsert() receivedAt!: Date;
}

/** The result of a batch. */
export interface CountedBatch {
  /** How many of its parts were counted; null if it was not, because of their days or because it had been counted before. */
  counted: number | null;
  /** The places, from 0, of those whose day is too early or still to come. */
  wrongDays: number[];
}

/** Contract §26: how many days before today a report may be about, and how far its clock may be ahead. */
const DAYS_BACK = 2;
const AHEAD = "interval '5 minutes'";
const TODAY = "(now() AT TIME ZONE 'UTC')::date";

const GIVEN = new InputRows<Disclosure>({
  text: ['clientId', 'userId', 'scope', 'day'],
  bigint: ['requests'],
});

/**
 * The sums of what was read (contract §26), and the batches that are in them. In SQL: one statement counts a batch, so that it
 * counts wholly and once.
 */
@Injectable()
export class DisclosuresRepository {
  constructor(
    @InjectRepository(DisclosureBatchEntity) private readonly batches: Repository<DisclosureBatchEntity>,
  ) {}

  /**
   * Adds a batch to the sums, unless it is in them or a day in it is wrong. Parts about others than users who consented to their
   * client at some time are left out. The consents are locked first, so that none of them goes before its sums are there, and always
   * in the same order, as are the sums.
   */
  async count({
    reporterId,
    batchId,
    bodyDigest,
    realm,
    disclosures,
  }: DisclosureBatch): Promise<CountedBatch> {
    const [result]: CountedBatch[] = await this.batches.query(
      `WITH given AS MATERIALIZED (
         SELECT g.client_id, g.user_id, g.scope, g.requests, coalesce(g.day::date, ${TODAY}) AS day, g.place
           FROM unnest(${GIVEN.arrays}) WITH ORDINALITY AS g (${GIVEN.columns}, place)
       ), wrong AS MATERIALIZED (
         SELECT place - 1 AS place FROM given
          WHERE day < ${TODAY} - ${DAYS_BACK} OR day > ((now() + ${AHEAD}) AT TIME ZONE 'UTC')::date
       ), summed AS MATERIALIZED (
         SELECT g.user_id, g.client_id, g.day, g.scope, sum(g.requests) AS requests, count(*) AS parts FROM given g
          WHERE g.scope = $7 OR EXISTS (SELECT 1 FROM scopes s WHERE s.name = g.scope AND s.audience = 'partner')
          GROUP BY 1, 2, 3, 4
       ), known AS MATERIALIZED (
         SELECT s.* FROM summed s JOIN consents n ON n.client_id = s.client_id AND n.user_id = s.user_id
          WHERE coalesce(n.realm = $6, true)
          ORDER BY s.user_id, s.client_id FOR KEY SHARE OF n
       ), batch AS (
         INSERT INTO disclosure_batches (reporter_id, batch_id, body_digest, counted)
         SELECT $8, $9, $10, (SELECT coalesce(sum(parts), 0) FROM known) WHERE NOT EXISTS (SELECT 1 FROM wrong)
         ON CONFLICT DO NOTHING RETURNING counted
       ), added AS (
         INSERT INTO disclosure_days AS d (user_id, client_id, day, scope, requests)
         SELECT user_id, client_id, day, scope, requests FROM known
          WHERE EXISTS (SELECT 1 FROM batch)
          ORDER BY user_id, client_id, day, scope
         ON CONFLICT (user_id, client_id, day, scope) DO UPDATE SET requests = d.requests + excluded.requests
       )
       SELECT (SELECT counted FROM batch) AS counted, ARRAY(SELECT place::int FROM wrong ORDER BY place) AS "wrongDays"`,
      [...GIVEN.parameters(disclosures), realm, ACCOUNT_DATA, reporterId, batchId, bodyDigest],
    );
    return result!;
  }

  /** A batch that was counted; null if not found. */
  findBatch(reporterId: string, batchId: string): Promise<DisclosureBatchEntity | null> {
    return this.batches.findOneBy({ reporterId, batchId });
  }
}
