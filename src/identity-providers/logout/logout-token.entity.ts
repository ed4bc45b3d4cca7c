import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A logout token that was used: its `jti` works once. */
@Entity('logout_tokens')
export class LogoutTokenEntity {
  /** The provider's id in the settings. */
  @PrimaryColumn('text')
  provider!: string;

  @PrimaryColumn('bytea')
  jtiDigest!: Buffer;

  /** From then on the token is refused for its age. */
  @Column('timestamptz')
  expiresAt!: Date;
}
