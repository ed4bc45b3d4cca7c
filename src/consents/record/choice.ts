import type { Form } from '../../http/forms/form.js';
import type { ScopeMeaning } from '../../scopes/scopes.service.js';
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

/** Reads the choice in a form. A form without the digest of its words comes from a program that follows only contract §3. */
export function choiceIn(form: Form, words: ConsentWords): Chosen | Undecided {
  const kept = keptWords(words);
  const shown = form.get('words');
  if (shown !== undefined && shown !== kept.digest.toString('hex')) return 'words changed';
  const chosen = form.getAll(OPTIONAL_SCOPE);
  const isGiven = ({ scope, optional }: AccessWords) => !optional || chosen.includes(scope);
  const namesOf = (access: AccessWords[]) => access.map(({ scope }) => scope);
  const scopes = namesOf(words.access.filter(isGiven));
  if (scopes.length === 0 && words.access.length > 0) return 'nothing chosen';
  const declined = namesOf(words.access.filter((each) => !isGiven(each)));
  return { scopes, declined, meanings: meaningsOf(words), words: kept };
}
