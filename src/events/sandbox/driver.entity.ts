import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a driver of a sandbox is besides a user: the seed, from which the vehicle and all sessions follow. */
@Entity('sandbox_drivers')
export class DriverEntity {
  @PrimaryColumn('text')
  userId!: string;

  @Column('text')
  ownerId!: string;

  @Column('integer')
  seed!: number;

  /** How many sessions and bursts were planned. */
  @Column('integer')
  sessions!: number;
}
