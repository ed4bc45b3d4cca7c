import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The position up to which a log was sent by OTLP, and by which instance. */
@Entity('log_exports')
export class LogExportEntity {
  @PrimaryColumn('text') log!: 'audit' | 'refusals';
  /** The cursor after the last entry that a collector has; null before the first. */
  @Column('text', { nullable: true }) cursor!: string | null;
  /** The database server that numbered the transactions of the cursor. */
  @Column('text', { nullable: true }) server!: string | null;
  @Column('text', { nullable: true }) leasedBy!: string | null;
  @Column('timestamptz', { nullable: true }) leasedUntil!: Date | null;
}
