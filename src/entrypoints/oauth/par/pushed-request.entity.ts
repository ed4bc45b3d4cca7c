import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An authorization request that its client pushed (RFC 9126), until it is decided or over. */
@Entity('pushed_requests')
export class PushedRequestEntity {
  /** Of the secret part of its `request_uri`. */
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  /** The parameters as in a query string, without those that authenticated the client. */
  @Column('text')
  query!: string;

  /** Later once a browser has opened it, because logging in takes longer; soon once it is decided. */
  @Column('timestamptz')
  expiresAt!: Date;

  @Column('boolean', { default: false })
  opened!: boolean;

  /** Of the form that decided it: the second click of a double click posts the same. */
  @Column('bytea', { nullable: true })
  decidedBy!: Buffer | null;
}
