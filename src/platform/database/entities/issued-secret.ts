import { Column, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from './columns.js';

/** A link, code or session that expires. Only the digest of its secret is stored. */
export abstract class IssuedSecret {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @TimeOfInsert()
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;
}
