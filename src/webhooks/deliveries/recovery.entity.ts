import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A recovery: the failed deliveries of an endpoint from one time until before the other, resent. */
@Entity('webhook_recoveries')
export class RecoveryEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'endpoint_id' })
  endpointId!: string;

  @Column('timestamptz', { name: 'failed_from' })
  from!: Date;

  @Column('timestamptz', { name: 'failed_to' })
  to!: Date;

  /** The number of deliveries that it resent. */
  @Column('integer')
  total!: number;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;
}
