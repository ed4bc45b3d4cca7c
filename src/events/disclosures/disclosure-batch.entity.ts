import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A report that was counted (contract §26). */
@Entity('disclosure_batches')
export class DisclosureBatchEntity {
  /** The client that reported; empty for what this service served itself. */
  @PrimaryColumn('text')
  reporterId!: string;

  @PrimaryColumn('text')
  batchId!: string;

  @Column('bytea')
  bodyDigest!: Buffer;

  /** How many of its parts were counted. */
  @Column('integer')
  counted!: number;

  @TimeOfInsert()
  receivedAt!: Date;
}
