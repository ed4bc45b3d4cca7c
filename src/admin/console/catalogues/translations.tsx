import type { VNode } from 'preact';
import type { Form } from '../../../http/forms/form.js';
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
  Object.fromEntries(Object.entries(translations).map(([language, text]) => [fieldOf(language), text]));

/** What was typed into these fields. */
export const typedTranslations = (form: Form): Record<string, string> =>
  Object.fromEntries(TRANSLATED.map((language) => [language, form.get(fieldOf(language)) ?? '']));

/** What they say: a language that is left empty has no words. */
export const translationsIn = (typed: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(typed).filter(([, text]) => text.trim() !== ''));
