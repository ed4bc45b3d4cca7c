import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A change of what tokens depend on, written by triggers and read by `AccessChanges`. Its `xid8` column, the transaction, is of a
 * type that TypeORM does not know.
 */
@Entity('access_changes')
export class AccessChangeEntity {
  @PrimaryColumn({ type: 'bigint', insert: false, update: false })
  id!: string;

  /** The ids of what changed; `*` for everything. */
  @Column('text', { array: true })
  ids!: string[];

  /** A moment after the commit, written by the purge; `infinity` until then. */
  @Column('timestamptz')
  committedBy!: Date;
}
