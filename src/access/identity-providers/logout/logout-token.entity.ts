import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A logout token that was used: its `jti` works once. */
@Entity('logout_tokens')
export class LogoutTokenEntity {
  /** The id of the provider in the settings; of several entries with one client, that of the first. */
  @PrimaryColumn('text')
  provider!: string;

  @PrimaryColumn('bytea')
  jtiDigest!: Buffer;

  /** When the token is too old to be accepted anyway. */
  @Column('timestamptz')
  expiresAt!: Date;
}
