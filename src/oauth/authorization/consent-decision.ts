import type { ClientEntity } from '../../clients/client.entity.js';
import type { Approval } from '../../consents/consents.service.js';
import { say } from '../../language/text.js';
import { OPTIONAL_SCOPE } from '../../consents/pages/access-choice.js';
import {
  keptWords,
  meaningsOf,
  type AccessWords,
  type ConsentWords,
} from '../../consents/record/consent-words.js';
import type { Form } from '../../http/forms/form.js';
import type { Language } from '../../language/languages.js';
import { scopeWordsIn, type ScopeEntity } from '../../scopes/scope.entity.js';

/** What each scope lets the client read, and whether the user may leave it out. */
export const accessWords = (client: ClientEntity, scopes: ScopeEntity[], language: Language): AccessWords[] =>
  scopes.map(({ name, meaningChangedAt, ...scope }) => ({
    scope: name,
    words: scopeWordsIn(scope, language),
    optional: client.optionalScopes.includes(name),
    meaningChangedAt,
  }));

/** Why a decision cannot be taken as it is: the page is shown again. */
export type Undecided = 'words changed' | 'nothing chosen';

export const UNDECIDED: Record<Undecided, string> = {
  'words changed': say('What this page says has changed since you opened it. Please read it again.'),
  'nothing chosen': say('Choose what the application may read, or cancel.'),
};

/** What the user agreed to with the form of the page with these words. */
export function approvalIn(
  form: Form,
  words: ConsentWords,
  method: Approval['method'],
): Approval | Undecided {
  const kept = keptWords(words);
  // A form without the digest is of a client of this page that knows only its contract (§3).
  const shown = form.get('words');
  if (shown !== undefined && shown !== kept.digest.toString('hex')) return 'words changed';
  const chosen = form.getAll(OPTIONAL_SCOPE);
  const isGiven = ({ scope, optional }: AccessWords) => !optional || chosen.includes(scope);
  const scopes = words.access.filter(isGiven).map(({ scope }) => scope);
  if (scopes.length === 0 && words.access.length > 0) return 'nothing chosen';
  const declined = words.access.filter((each) => !isGiven(each)).map(({ scope }) => scope);
  return { scopes, declined, meanings: meaningsOf(words), method, words: kept };
}
