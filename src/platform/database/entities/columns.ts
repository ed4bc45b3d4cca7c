import { Column } from 'typeorm';

export const TextOrNull = (): PropertyDecorator => Column('text', { nullable: true });

export const TimeOrNull = (): PropertyDecorator => Column('timestamptz', { nullable: true });

/** When the row was created, by the database's clock; the service only reads it. */
export const TimeOfInsert = (): PropertyDecorator =>
  Column({ type: 'timestamptz', insert: false, update: false });
