import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A sealed text that proves whether the service has the key of this database. The table has one row. */
@Entity('encryption_canary')
export class EncryptionCanaryEntity {
  @PrimaryColumn('boolean', { insert: false, update: false }) singleton!: boolean;
  @Column('text') keyId!: string;
  @Column('bytea') sealed!: Buffer;
  @Column({ type: 'timestamptz', insert: false }) sealedAt!: Date;
}
