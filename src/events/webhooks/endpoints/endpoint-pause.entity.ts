import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** A period in which an endpoint was disabled, stored when it is over. */
@Entity('webhook_pauses')
export class EndpointPauseEntity {
  @PrimaryColumn('text') endpointId!: string;
  @PrimaryColumn('timestamptz') disabledAt!: Date;
  @Column('timestamptz') enabledAt!: Date;
  /** When what was missed was sent. */
  @TimeOrNull() sentAt!: Date | null;
}
