import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How often a client read data of a user on a day, and how often it was sent some, by scope (contract §26). */
@Entity('disclosure_days')
export class DisclosureDayEntity {
  @PrimaryColumn('text')
  userId!: string;

  @PrimaryColumn('text')
  clientId!: string;

  /** In UTC. */
  @PrimaryColumn('date')
  day!: string;

  /** The name of a scope, or `ACCOUNT_DATA`. */
  @PrimaryColumn('text')
  scope!: string;

  @Column('bigint')
  requests!: string;

  /** Only summed-up deliveries: later ones are counted when the number is read. */
  @Column('bigint')
  deliveries!: string;
}
