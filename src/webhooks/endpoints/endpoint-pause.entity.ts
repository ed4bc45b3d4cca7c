import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A time in which an endpoint was disabled, once it is over. */
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
