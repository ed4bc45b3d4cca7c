import type { Language } from '#platform/language/languages.js';
import { say, text } from '#platform/language/text.js';

/** What the scripts say on their own, or show from the answers to their requests. */
const WORDS: Record<string, readonly string[]> = {
  '/assets/page.js': [say('Copy'), say('Copied'), say('Download')],
  '/assets/passkeys.js': [
    say('No passkey was used: the request was cancelled, or it took too long. Try again.'),
    say('This device already has a passkey for your account.'),
    say('Passkeys do not work at this address.'),
    say('That did not work. Try again later.'),
  ],
};

/** The words of these scripts for a page in another language than theirs, by the English ones, as JSON; undefined if there are none. */
export function wordsOfScripts(scripts: readonly string[], language: Language): string | undefined {
  const words = scripts.flatMap((script) => WORDS[script] ?? []);
  if (language === 'en' || words.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(words.map((english) => [english, text(language, english)])));
}
