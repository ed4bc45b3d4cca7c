import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Language } from '#platform/language/languages.js';
import { SCOPES } from '../../../migrations/scopes.js';
import type { Translations } from './translations.js';

export const SCOPE_AUDIENCES = ['partner', 'operator'] as const;
export type ScopeAudience = (typeof SCOPE_AUDIENCES)[number];

/** The scopes for partners in the first catalogue (contract §2). */
export const PARTNER_SCOPES = firstScopesFor('partner');

/** The scopes for the company's own services and operators; their audience is fixed. */
export const OPERATOR_SCOPES = firstScopesFor('operator');

/** A scope of the catalogue: its name, and the description shown to users. */
@Entity('scopes')
export class ScopeEntity {
  @PrimaryColumn('text') name!: string;
  @Column('text') description!: string;
  /** The description in other languages; without one, users read it in English. */
  @Column('jsonb', { default: {} }) translations!: Translations;
  @Column('text') audience!: ScopeAudience;

  /** When an operator last said that the description means something else than before. */
  @Column({ type: 'timestamptz', nullable: true, insert: false, update: false })
  meaningChangedAt!: Date | null;

  /** When all consents that held the scope before had an end. */
  @Column({ type: 'timestamptz', nullable: true, insert: false, update: false })
  meaningWorkedOffAt!: Date | null;

  /** Number stored in tokens; assigned by the database and never reused. */
  @Column({ type: 'integer', select: false, insert: false, update: false }) number?: number;
}

/** The description in a language; in English where the scope has none in it. */
export const scopeWordsIn = (
  { description, translations }: Pick<ScopeEntity, 'description' | 'translations'>,
  language: Language,
): string => (language === 'en' ? description : (translations[language] ?? description));

function firstScopesFor(audience: ScopeAudience): string[] {
  return SCOPES.filter(([, of]) => of === audience).map(([name]) => name);
}
