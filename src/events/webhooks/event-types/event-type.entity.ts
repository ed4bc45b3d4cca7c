import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NameRule } from '#platform/http/validation/name-rule.js';
import type { Translations } from '#access/scopes/translations.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

export const EVENT_TYPE_NAME: NameRule = {
  pattern: /^[a-z0-9_.]{1,64}$/,
  characters: 'a-z, 0-9, _ and .',
  example: 'charging_session.created',
};

/** A type of event in the catalogue (contract §10, §21). */
@Entity('event_types')
export class EventTypeEntity {
  @PrimaryColumn('text') name!: string;
  /** The scope that client and consent must have; null: only for the client concerned, without a consent check. */
  @TextOrNull() scope!: string | null;
  /** Published by the company's services, or by this service itself. */
  @Column('text') publisher!: 'services' | 'itself';
  @Column('text') description!: string;
  /** The description in other languages. */
  @Column('jsonb', { default: {} }) translations!: Translations;
  /** An example of `data`. */
  @Column('jsonb') sample!: Record<string, unknown>;
  /** JSON Pointer into `data`, to the id of what the event is about; null: its events are not numbered. */
  @TextOrNull() resource!: string | null;
  /** Counts the changes of the type and its versions. */
  @Column('integer') revision!: number;
}
