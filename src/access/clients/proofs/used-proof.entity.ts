import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A proof that was used, as a SHA-256 digest, until it ends by itself. */
@Entity('used_proofs')
export class UsedProofEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}
