import { Injectable } from '@nestjs/common';
import { Column, Entity, PrimaryColumn } from 'typeorm';
import { batched } from '#platform/database/queries/batched.js';
import { arrayParameter, Statements } from '#platform/database/queries/statements.js';

/** A proof, and for how many more seconds it would be accepted. */
interface Proof {
  digest: Buffer;
  seconds: number;
}

/** A proof that was used, as a SHA-256 digest, until it ends by itself. */
@Entity('used_proofs')
export class UsedProofEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') expiresAt!: Date;
}

@Injectable()
export class UsedProofsRepository {
  constructor(private readonly statements: Statements) {}

  /**
   * Notes that a proof is used; false if it was used before, at whatever instance. One guarded write, which concurrent calls share,
   * always in the same order, so that instances do not deadlock.
   */
  readonly use = batched<Proof, boolean>(async (proofs) => {
    const rows = await this.statements.run<{ digest: Buffer }>(
      'used proofs',
      `INSERT INTO used_proofs (digest, expires_at)
       SELECT digest, now() + make_interval(secs => seconds)
         FROM unnest(${arrayParameter(1, 'bytea')}, ${arrayParameter(2, 'float8')}) AS p (digest, seconds)
        ORDER BY 1
       ON CONFLICT (digest) DO NOTHING
       RETURNING digest`,
      [proofs.map(({ digest }) => digest), proofs.map(({ seconds }) => seconds)],
    );
    const first = new Set(rows.map(({ digest }) => digest.toString('base64url')));
    // Of two that came together, one is the first.
    return proofs.map(({ digest }) => first.delete(digest.toString('base64url')));
  });
}
