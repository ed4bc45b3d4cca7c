import type { VNode } from 'preact';
import { ENGLISH_NAMES } from '../../../language/languages.js';
import { TRANSLATED } from '../../../scopes/translations.js';
import { TextArea } from '../../../web/forms/field.js';

/** The form field with the words in a language; errors have the same name. */
const fieldOf = (language: string): string => `translations.${language}`;

/** A field for the words in each language but English. */
export const TranslationFields = (): VNode => (
  <>
    {TRANSLATED.map((language) => (
      <TextArea
        name={fieldOf(language)}
        label={ENGLISH_NAMES[language]}
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
