import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A recovery code that was not used yet; only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCodeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;
}
