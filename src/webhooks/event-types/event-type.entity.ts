import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A type of event in the catalogue (contract §10). */
@Entity('event_types')
export class EventTypeEntity {
  @PrimaryColumn('text')
  name!: string;

  /** What client and consent must hold; null: for the client concerned alone, without a consent check. */
  @Column('text', { nullable: true })
  scope!: string | null;

  /** Whether the company's services publish it, or this service itself. */
  @Column('text')
  publisher!: 'services' | 'itself';

  @Column('text')
  description!: string;

  /** The `data` of an example. */
  @Column('jsonb')
  sample!: Record<string, unknown>;
}
