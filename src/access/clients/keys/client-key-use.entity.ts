import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When a client last authenticated with one of its keys, to the hour. */
@Entity('client_key_uses')
export class ClientKeyUseEntity {
  @PrimaryColumn('text') clientId!: string;
  /** The SHA-256 thumbprint of the key (RFC 7638). */
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('timestamptz') lastUsedAt!: Date;
}
