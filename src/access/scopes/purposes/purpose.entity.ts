import type { NameRule } from '#platform/http/validation/name-rule.js';
import type { Language } from '#platform/language/languages.js';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What users read of a purpose, by language; English is needed. */
export type PurposeWords = { en: string } & Partial<Record<Language, string>>;

export const PURPOSE_NAME: NameRule = {
  pattern: /^[a-z0-9_-]{1,64}$/,
  characters: 'a-z, 0-9, _ and -',
  example: 'route_planning',
};

/** What clients may want data for (contract §2). */
@Entity('purposes')
export class PurposeEntity {
  @PrimaryColumn('text') name!: string;
  @Column('jsonb') words!: PurposeWords;
}

/** The words in a language; in English where the purpose has none in it. */
export const purposeWordsIn = ({ words }: PurposeEntity, language: string): string =>
  (words as Partial<Record<string, string>>)[language] ?? words.en;
