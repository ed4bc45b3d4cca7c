import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ActivityKind } from '../activity/activity.js';

/** One request, as operators look it up by its id (contract §12): nothing of it but its route, and no person. */
@Entity('request_records')
export class RequestRecordEntity {
  @PrimaryColumn('bigint')
  id!: string;

  @PrimaryColumn('timestamptz', { name: 'occurred_at' })
  occurredAt!: Date;

  /** Of the caller's choice, so that several requests may have it. */
  @Column('text', { name: 'request_id' })
  requestId!: string;

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

  /** What was refused, with its reason; null where the error says it all. */
  @Column('text', { name: 'refused_kind', nullable: true })
  refusedKind!: ActivityKind | null;

  @Column('text', { nullable: true })
  refused!: string | null;

  /** Who asked, or says to be that client: a wrong secret is refused before anything is proved. */
  @Column('text', { name: 'client_id', nullable: true })
  clientId!: string | null;

  @Column('integer')
  milliseconds!: number;

  /** Whether the sandbox made it fail on request (contract §19). */
  @Column('boolean')
  injected!: boolean;
}

/** A record before it is stored. */
export type NewRequestRecord = Omit<RequestRecordEntity, 'id'>;
