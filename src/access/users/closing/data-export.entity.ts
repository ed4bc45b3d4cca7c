import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** The one-time link to a person's data (contract §13); the data is read when it is used. */
@Entity('data_exports')
export class DataExportEntity {
  @PrimaryColumn('text')
  userId!: string;

  @Column('bytea')
  digest!: Buffer;

  @Column({ type: 'timestamptz', insert: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @TimeOrNull()
  usedAt!: Date | null;
}
