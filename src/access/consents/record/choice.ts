import type { Form } from '#platform/http/forms/form.js';
import type { ScopeMeaning } from '#access/scopes/scopes.service.js';
import { OPTIONAL_SCOPE } from '../pages/access-choice.js';
import {
  keptWords,
  meaningsOf,
  type AccessWords,
  type ConsentWords,
  type KeptWords,
} from './consent-words.js';

/** What the user chose on a page with these words; `declined` are the optional scopes that were not chosen. */
interface Chosen {
  scopes: string[];
  declined: string[];
  /** Of the scopes that were shown. */
  meanings: ScopeMeaning[];
  words: KeptWords;
}

/** Why a form is not accepted, and its page is shown again. */
export type Undecided = 'words changed' | 'nothing chosen';

/**
 * Reads the choice in a form. One without the digest of its words has shown none, and a receipt says which were shown: that counts as changed
 * words.
 */
export function choiceIn(form: Form, words: ConsentWords): Chosen | Undecided {
  const kept = keptWords(words);
  if (form.get('words') !== kept.digest.toString('hex')) return 'words changed';
  const chosen = form.getAll(OPTIONAL_SCOPE);
  const isGiven = ({ scope, optional }: AccessWords) => !optional || chosen.includes(scope);
  const namesOf = (access: AccessWords[]) => access.map(({ scope }) => scope);
  const scopes = namesOf(words.access.filter(isGiven));
  if (scopes.length === 0 && words.access.length > 0) return 'nothing chosen';
  const declined = namesOf(words.access.filter((each) => !isGiven(each)));
  return { scopes, declined, meanings: meaningsOf(words), words: kept };
}
