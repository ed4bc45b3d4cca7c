import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One request of a client, as it sees it in its portal (contract §20): nothing of the request but its route. */
@Entity('client_requests')
export class ClientRequestEntity {
  @PrimaryColumn('bigint')
  id!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  @Column('text')
  method!: string;

  /** The pattern of the path. */
  @Column('text')
  route!: string;

  @Column('integer')
  status!: number;

  /** The slug of the problem, or the OAuth error code. */
  @Column('text', { nullable: true })
  error!: string | null;

  @Column('text', { name: 'request_id' })
  requestId!: string;

  @Column('integer')
  milliseconds!: number;

  /** Whether the sandbox made it fail on request (contract §19). */
  @Column('boolean')
  injected!: boolean;
}

/** A request before it is stored. */
export type NewClientRequest = Omit<ClientRequestEntity, 'id'>;
