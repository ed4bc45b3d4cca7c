import { Column, PrimaryColumn } from 'typeorm';

export const TextOrNull = (): PropertyDecorator => Column('text', { nullable: true });

export const TimeOrNull = (): PropertyDecorator => Column('timestamptz', { nullable: true });

/** When the row was created, by the database's clock; the service only reads it. */
export const TimeOfInsert = (): PropertyDecorator =>
  Column({ type: 'timestamptz', insert: false, update: false });

/** The base of users, clients and endpoints. */
export abstract class InRealm {
  /** Part of the foreign keys, so that no row can refer to another realm (`realmOf`). */
  @Column({ type: 'text', select: false, update: false }) realm!: string;
  @TimeOfInsert() createdAt!: Date;
  @Column({ type: 'timestamptz', insert: false }) updatedAt!: Date;
}

/** A link, code or session that expires. Only the digest of its secret is stored. */
export abstract class IssuedSecret {
  @PrimaryColumn('bytea') digest!: Buffer;
  @TimeOfInsert() createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
}
