import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The attempts of an endpoint in one hour, for the charts. */
@Entity('webhook_endpoint_hours')
export class EndpointHourEntity {
  @PrimaryColumn('text')
  endpointId!: string;

  @PrimaryColumn('timestamptz')
  hour!: Date;

  @Column('integer')
  delivered!: number;

  @Column('integer')
  failed!: number;

  /** The sum over all attempts. */
  @Column('bigint')
  durationMs!: string;

  @Column('integer')
  slowestMs!: number;
}
