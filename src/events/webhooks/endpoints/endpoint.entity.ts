import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SignatureVersion } from '../signing/sign-delivery.js';
import type { ClientCredentials } from '../receiver-tokens/client-credentials.js';
import type { Batch } from '../batches/batch.js';
import type { Condition } from '../filters/condition.js';
import { TextOrNull, TimeOrNull, InRealm } from '#platform/database/entities/columns.js';

/** After so many days without a success an endpoint is disabled (contract §10). */
export const FAILING_DAYS = 5;

/** Why the service disabled an endpoint: it responded with 410, or it failed for five days. */
export type EndpointDisabledReason = 'gone' | 'failing';

/** What the endpoint did, in words that complete "it …". */
export const DISABLED_BECAUSE: Record<EndpointDisabledReason, string> = {
  gone: 'responded with “410 Gone”',
  failing: 'accepted no events for five days',
};

/** A URL to which a client wants its events sent (contract §10). */
@Entity('webhook_endpoints')
export class EndpointEntity extends InRealm {
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('text') url!: string;
  @Column('text') description!: string;
  @Column('text', { array: true }) eventTypes!: string[];
  /** What an event of these types must have to be sent; all of them must hold. */
  @Column({ type: 'json', default: [] }) filters!: Condition[];
  /** The same as PostgreSQL judges by it. */
  @Column({ type: 'jsonpath', nullable: true, select: false }) filter!: string | null;
  @Column('boolean') enabled!: boolean;
  /** Null for an endpoint that is enabled, or that a person disabled. */
  @TextOrNull() disabledReason!: EndpointDisabledReason | null;
  @TimeOrNull() disabledAt!: Date | null;
  /** Whether the events of one user are sent one after the other. */
  @Column('boolean') ordered!: boolean;
  /** Whether its waiting deliveries stand as `ordered` says; until then none is claimed. */
  @Column({ type: 'boolean', select: false, insert: false }) linedUp!: boolean;
  /** How its events are gathered into requests; null: each in its own. */
  @Column({ type: 'json', nullable: true }) batch!: Batch | null;
  /** Which signatures a delivery has. */
  @Column('text', { array: true }) signatureVersions!: SignatureVersion[];
  @Column('bytea') sealedSecret!: Buffer;
  /** The previous secret, during a rotation. */
  @Column('bytea', { nullable: true }) sealedPreviousSecret!: Buffer | null;
  @TimeOrNull() previousSecretExpiresAt!: Date | null;
  /** The most attempts that start in a minute, over all instances; null without a limit. */
  @Column('integer', { nullable: true }) maxPerMinute!: number | null;
  /** The names of its own headers, which each attempt carries, in lower case. */
  @Column('text', { array: true }) headerNames!: string[];
  /** Their values. */
  @Column('bytea', { nullable: true }) sealedHeaders!: Buffer | null;
  /** Where the token of its requests comes from, if the receiver is behind OAuth. */
  @Column({ type: 'json', nullable: true }) authentication!: ClientCredentials | null;
  @Column('bytea', { nullable: true }) sealedClientSecret!: Buffer | null;
  @TimeOrNull() lastAttemptAt!: Date | null;
  /** The first failed attempt since the last success, at its present URL. */
  @TimeOrNull() failingSince!: Date | null;
  /** Its last 20 attempts, those at its present URL: a success is a point, a failure an x. */
  @Column({ type: 'text', select: false, insert: false }) recentResults!: string;
  @TimeOrNull() deletedAt!: Date | null;
}

/** How many attempts of a throttled endpoint started in each second of the last minute; the claim of deliveries counts them. */
@Entity('webhook_throttles')
export class EndpointThrottleEntity {
  @PrimaryColumn('text') endpointId!: string;
  /** No attempt may start before this time. */
  @Column('timestamptz') blockedUntil!: Date;
  @Column('timestamptz', { array: true }) startSeconds!: Date[];
  @Column('integer', { array: true }) startCounts!: number[];
}
