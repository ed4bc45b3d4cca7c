import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

/** A version of an event type, with the JSON Schema of its `data` (contract §21). */
@Entity('event_type_versions')
export class EventTypeVersionEntity {
  @PrimaryColumn('text') type!: string;
  @PrimaryColumn('integer') version!: number;
  @Column('json') schema!: Record<string, unknown>;
  /** Nothing is published with a draft, and it is not public. */
  @Column('boolean') draft!: boolean;
  /** The revision of the type at which the version last changed. */
  @Column('integer') revision!: number;
  /** When the first event was published with it: from then on it does not change. */
  @TimeOrNull() usedAt!: Date | null;
  @TimeOfInsert() createdAt!: Date;
}
