import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A report that was counted (contract §26). */
@Entity('disclosure_batches')
export class DisclosureBatchEntity {
  /** The client that reported; empty for what this service served itself. */
  @PrimaryColumn('text', { name: 'reporter_id' })
  reporterId!: string;

  @PrimaryColumn('text', { name: 'batch_id' })
  batchId!: string;

  @Column('bytea', { name: 'body_digest' })
  bodyDigest!: Buffer;

  /** How many of its parts were counted. */
  @Column('integer')
  counted!: number;

  @Column({ type: 'timestamptz', name: 'received_at', insert: false, update: false })
  receivedAt!: Date;
}
