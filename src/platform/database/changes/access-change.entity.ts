import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A change of what tokens depend on, written by triggers and read by `AccessChanges`. The column with its transaction (`xid8`) is
 * not here, because TypeORM does not know that type.
 */
@Entity('access_changes')
export class AccessChangeEntity {
  @PrimaryColumn({ type: 'bigint', insert: false, update: false }) id!: string;
  /** The ids of what changed; `*` for everything. */
  @Column('text', { array: true }) ids!: string[];
  /** A time shortly after the commit, set by the purge; `infinity` until then. */
  @Column('timestamptz') committedBy!: Date;
}
