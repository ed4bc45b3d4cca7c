import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { NameRule } from '#platform/http/validation/name-rule.js';
import type { Translations } from '#access/scopes/translations.js';
import { BATCH_TYPE } from '../batches/batch.js';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';

export const EVENT_TYPE_NAME: NameRule = {
  pattern: /^[a-z0-9_.]{1,64}$/,
  characters: 'a-z, 0-9, _ and .',
  example: 'charging_session.created',
  reserved: BATCH_TYPE,
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

/** A version of an event type, with the JSON Schema of its `data` (contract §21). */
@Entity('event_type_versions')
export class EventTypeVersionEntity {
  @PrimaryColumn('text') type!: string;
  @PrimaryColumn('integer') version!: number;
  @Column('json') schema!: Record<string, unknown>;
  /** Nothing is published with a draft, and it is not public. */
  @Column('boolean') draft!: boolean;
  /** The revision of the type at which the version last changed. */
  @Column('integer') revision!: number;
  /** When the first event was published with it: from then on it does not change. */
  @TimeOrNull() usedAt!: Date | null;
  @TimeOfInsert() createdAt!: Date;
}

/** An event type with its versions, the oldest first. */
export type VersionedEventType = EventTypeEntity & { versions: EventTypeVersionEntity[] };

/** The version that publishing uses by default: the newest that is not a draft (contract §21). */
export const currentVersion = <V extends Pick<EventTypeVersionEntity, 'draft'>>({
  versions,
}: {
  versions: V[];
}): V | undefined => versions.findLast(({ draft }) => !draft);
