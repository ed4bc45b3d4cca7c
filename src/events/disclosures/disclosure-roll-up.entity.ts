import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The one row that says up to which event the deliveries are in the sums (contract §26). */
@Entity('disclosure_roll_up')
export class DisclosureRollUpEntity {
  @PrimaryColumn('boolean')
  isOnly!: true;

  /** The time of the event; with microseconds, so that only SQL compares it. */
  @Column('timestamptz')
  upTo!: Date;
}
