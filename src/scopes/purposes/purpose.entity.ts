import type { Language } from '../../language/languages.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What users read of a purpose, by language; English is needed. */
export type PurposeWords = { en: string } & Partial<Record<Language, string>>;

export const PURPOSE_NAME = /^[a-z0-9_-]{1,64}$/;
export const isPurposeName = (name: string): boolean => PURPOSE_NAME.test(name);

/** What clients may want data for (contract §2). */
@Entity('purposes')
export class PurposeEntity {
  @PrimaryColumn('text')
  name!: string;

  @Column('jsonb')
  words!: PurposeWords;
}

/** The words in a language; in English where the purpose has none in it. */
export const purposeWordsIn = ({ words }: PurposeEntity, language: string): string =>
  (words as Partial<Record<string, string>>)[language] ?? words.en;
