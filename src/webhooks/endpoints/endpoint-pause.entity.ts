import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A time in which an endpoint was disabled, once it is over. */
@Entity('webhook_pauses')
export class EndpointPauseEntity {
  @PrimaryColumn('text', { name: 'endpoint_id' })
  endpointId!: string;

  @PrimaryColumn('timestamptz', { name: 'disabled_at' })
  disabledAt!: Date;

  @Column('timestamptz', { name: 'enabled_at' })
  enabledAt!: Date;

  /** When what was missed was sent. */
  @Column('timestamptz', { name: 'sent_at', nullable: true })
  sentAt!: Date | null;
}
