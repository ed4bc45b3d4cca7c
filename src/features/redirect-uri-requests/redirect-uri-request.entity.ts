import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { RedirectUriChange } from '#access/clients/client-rules.js';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  AreVisibleLines,
  IsIdOf,
  IsOneOf,
  IsOptionalNotNull,
} from '#platform/http/validation/validation.decorators.js';

export const REDIRECT_URI_REQUEST_STATES = ['pending', 'approved', 'rejected'] as const;
export type RedirectUriRequestState = (typeof REDIRECT_URI_REQUEST_STATES)[number];

/** A redirect URI that a member of an organisation asked to register or to remove (contract §20). */
@Entity('redirect_uri_requests')
export class RedirectUriRequestEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('text') action!: RedirectUriChange['action'];
  @Column('text') uri!: string;
  @Column('text') state!: RedirectUriRequestState;
  /** The reason of the rejection, if one was given. */
  @TextOrNull() reason!: string | null;
  /** The member; the account may be gone. */
  @Column('text') requestedBy!: string;
  @TimeOfInsert() requestedAt!: Date;
  @TextOrNull() decidedByType!: 'user' | 'client' | 'service' | null;
  @TextOrNull() decidedById!: string | null;
  @TimeOrNull() decidedAt!: Date | null;
}

/** Query of `GET /admin/redirect_uri_requests`; all given members must match. */
export class RedirectUriRequestsQuery extends PageQuery {
  @IsOptionalNotNull() @IsOneOf(...REDIRECT_URI_REQUEST_STATES) state?: RedirectUriRequestState;
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
}

/** Body of `POST /admin/redirect_uri_requests/{id}/reject`. */
export class RejectionDto {
  @IsOptionalNotNull() @AreVisibleLines(1, 300) reason?: string;
}
