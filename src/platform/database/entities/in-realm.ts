import { Column } from 'typeorm';
import { TimeOfInsert } from './columns.js';

/** The base of users, clients and endpoints. */
export abstract class InRealm {
  /** Part of the foreign keys, so that no row can refer to another realm (`realmOf`). */
  @Column({ type: 'text', select: false, update: false })
  realm!: string;

  @TimeOfInsert()
  createdAt!: Date;

  @Column({ type: 'timestamptz', insert: false })
  updatedAt!: Date;
}
