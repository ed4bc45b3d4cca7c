import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A recovery code that was not used yet; only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCodeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  userId!: string;

  @TimeOfInsert()
  createdAt!: Date;
}
