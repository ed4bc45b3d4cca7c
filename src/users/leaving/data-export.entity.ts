import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The one-time link to a person's data (contract §13); the data is read when it is used. */
@Entity('data_exports')
export class DataExportEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  @Column('bytea')
  digest!: Buffer;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'used_at', nullable: true })
  usedAt!: Date | null;
}
