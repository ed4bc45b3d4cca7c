import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RedirectUriChange } from '../../clients/client-rules.js';

export const REDIRECT_URI_REQUEST_STATES = ['pending', 'approved', 'rejected'] as const;
export type RedirectUriRequestState = (typeof REDIRECT_URI_REQUEST_STATES)[number];

/** A redirect URI that a member of an organisation asked to register or to remove (contract §20). */
@Entity('redirect_uri_requests')
export class RedirectUriRequestEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  clientId!: string;

  @Column('text')
  action!: RedirectUriChange['action'];

  @Column('text')
  uri!: string;

  @Column('text')
  state!: RedirectUriRequestState;

  /** Why it was rejected, if someone said so. */
  @Column('text', { nullable: true })
  reason!: string | null;

  /** The member; the account may be gone. */
  @Column('text')
  requestedBy!: string;

  @Column({ type: 'timestamptz', insert: false, update: false })
  requestedAt!: Date;

  @Column('text', { nullable: true })
  decidedByType!: 'user' | 'client' | 'service' | null;

  @Column('text', { nullable: true })
  decidedById!: string | null;

  @Column('timestamptz', { nullable: true })
  decidedAt!: Date | null;
}
