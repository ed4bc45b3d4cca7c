import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A recovery code that was not used yet; only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCodeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  userId!: string;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;
}
