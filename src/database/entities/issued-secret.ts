import { Column, PrimaryColumn } from 'typeorm';

/** A link, code or session that was issued until some time. Only the digest of its secret is stored. */
export abstract class IssuedSecret {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;
}
