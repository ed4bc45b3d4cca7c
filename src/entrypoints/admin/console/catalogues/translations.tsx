import type { VNode } from 'preact';
import { ENGLISH_NAMES } from '#platform/language/languages.js';
import { TRANSLATED } from '#access/scopes/translations.js';
import { TextArea } from '#platform/web/forms/field.js';
import { State } from '#platform/web/tables/state.js';

/** The form field with the words in a language; errors have the same name. */
const fieldOf = (language: string): string => `translations.${language}`;

/** A field for the description in each language but English. */
export const TranslationFields = (): VNode => (
  <>
    {TRANSLATED.map((language) => (
      <TextArea
        name={fieldOf(language)}
        label={`Description in ${ENGLISH_NAMES[language]}`}
        hint="Optional. Without it, users read the English words."
      />
    ))}
  </>
);

/** What these fields show. */
export const translationValues = (translations: Record<string, string>): Record<string, string> =>
  Object.fromEntries(TRANSLATED.map((language) => [fieldOf(language), translations[language] ?? '']));

/** The translations, given what a field says. */
export const typedTranslations = (text: (field: string) => string): Record<string, string> =>
  Object.fromEntries(TRANSLATED.map((language) => [language, text(fieldOf(language))]));

/** What they say: a language that is left empty has no words. */
export const translationsIn = (typed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).filter(([, text]) => text.trim() !== ''));

const and = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** Warns that users of some languages read the English words; nothing if none do. */
export function MissingLanguages({ words }: { words: Partial<Record<string, string>> }): VNode | null {
  const missing = TRANSLATED.filter((language) => words[language] === undefined);
  if (missing.length === 0) return null;
  const names = missing.map((language) => ENGLISH_NAMES[language]);
  return <State tone="warn">English instead of {and.format(names)}</State>;
}
