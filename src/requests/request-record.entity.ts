import { Entity, PrimaryColumn } from 'typeorm';
import type { ActivityKind } from '../activity/activity.js';
import { AnsweredRequest } from './answered-request.entity.js';
import { TextOrNull } from '../database/entities/columns.js';

/** One request, as operators look it up by its id (contract §12): nothing of a person. */
@Entity('request_records')
export class RequestRecordEntity extends AnsweredRequest {
  /** Names the partition. */
  @PrimaryColumn('timestamptz')
  occurredAt!: Date;

  /** What was refused, with its reason; null where the error says it all. */
  @TextOrNull()
  refusedKind!: ActivityKind | null;

  @TextOrNull()
  refused!: string | null;

  /** Who asked, or says to be that client: a wrong secret is refused before anything is proved. */
  @TextOrNull()
  clientId!: string | null;
}

/** A record before it is stored. */
export type NewRequestRecord = Omit<RequestRecordEntity, 'id'>;
