import { isLanguage } from '#platform/language/languages.js';
import { violation, type Violation, type Violations } from '#platform/http/problems/violation.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { isTextOf, VISIBLE } from '#platform/http/validation/validation.decorators.js';

export const PURPOSE_WORDS_MAX = 300;

/** What is wrong with the words of a purpose, by `words.` and the language; empty if nothing is. */
export function purposeViolations(words: object): Violations {
  const violations: Violations = {};
  for (const language of new Set(['en', ...Object.keys(words)])) {
    const wrong = violationOf(
      language,
      Object.hasOwn(words, language) ? (words as never)[language] : undefined,
    );
    if (wrong) violations[`words.${language}`] = [wrong];
  }
  return violations;
}

/** The same for translations, which English does not belong to. */
export const translationViolations = (translations: object): Violations =>
  Object.fromEntries(
    Object.entries(translations).flatMap(([language, text]) => {
      const wrong = language === 'en' ? violation('unknown_member') : violationOf(language, text);
      return wrong ? [[`translations.${language}`, [wrong]]] : [];
    }),
  );

function violationOf(language: string, text: unknown): Violation | undefined {
  if (!isLanguage(language)) return violation('unknown_member');
  if (!isTextOf(text, 1, PURPOSE_WORDS_MAX) || !VISIBLE.test(text)) {
    return violation('visible_text', { min: 1, max: PURPOSE_WORDS_MAX });
  }
  return illegible(text);
}
