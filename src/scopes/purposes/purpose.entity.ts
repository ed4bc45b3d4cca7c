import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The languages in which a purpose can have words; English is needed. */
export const PURPOSE_LANGUAGES = ['en', 'de', 'fr', 'nl', 'es'] as const;
export type PurposeLanguage = (typeof PURPOSE_LANGUAGES)[number];

/** What users read of a purpose, by language. */
export type PurposeWords = { en: string } & Partial<Record<PurposeLanguage, string>>;

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
