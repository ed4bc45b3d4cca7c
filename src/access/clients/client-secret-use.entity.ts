import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When a client last authenticated with one of its secrets, to the hour. */
@Entity('client_secret_uses')
export class ClientSecretUseEntity {
  @PrimaryColumn('text')
  clientId!: string;

  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('timestamptz')
  lastUsedAt!: Date;
}
