import { Entity, PrimaryColumn } from 'typeorm';
import type { ActivityKind } from '#records/activity/activity.js';
import { AnsweredRequest } from './answered-request.entity.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A request that operators look up by its id (contract §12); contains no personal data. */
@Entity('request_records')
export class RequestRecordEntity extends AnsweredRequest {
  /** Names the partition. */
  @PrimaryColumn('timestamptz') occurredAt!: Date;
  /** What was refused and why; null if the error code is enough. */
  @TextOrNull() refusedKind!: ActivityKind | null;
  @TextOrNull() refused!: string | null;
  /** The client, or whichever client the caller claimed to be: with a wrong secret nothing is proven. */
  @TextOrNull() clientId!: string | null;
}

/** A record before it is stored. */
export type NewRequestRecord = Omit<RequestRecordEntity, 'id'>;
