import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A period in which an endpoint was disabled, stored when it is over. */
@Entity('webhook_pauses')
export class EndpointPauseEntity {
  @PrimaryColumn('text')
  endpointId!: string;

  @PrimaryColumn('timestamptz')
  disabledAt!: Date;

  @Column('timestamptz')
  enabledAt!: Date;

  /** When what was missed was sent. */
  @Column('timestamptz', { nullable: true })
  sentAt!: Date | null;
}
