import { Column } from 'typeorm';
import { TimeOfInsert } from './columns.js';

/** What people, clients and endpoints have in common. */
export abstract class InRealm {
  /** What foreign keys carry, so that nothing refers to another realm: `realmOf`. */
  @Column({ type: 'text', select: false, update: false })
  realm!: string;

  @TimeOfInsert()
  createdAt!: Date;

  @Column({ type: 'timestamptz', insert: false })
  updatedAt!: Date;
}
