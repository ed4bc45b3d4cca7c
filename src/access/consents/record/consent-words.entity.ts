import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The exact words of a consent page, stored once for everyone who saw them. */
@Entity('consent_words')
export class ConsentWordsEntity {
  /** SHA-256 of the words. */
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  language!: string;

  @Column('text')
  words!: string;
}
