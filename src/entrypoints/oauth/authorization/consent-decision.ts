import type { Approval } from '#access/consents/consent-approvals.service.js';
import { choiceIn, type Undecided } from '#access/consents/record/choice.js';
import type { ConsentWords } from '#access/consents/record/consent-words.js';
import type { Form } from '#platform/http/forms/form.js';
import { say } from '#platform/language/text.js';

/** Why the page is shown again. */
export type ShownAgain = Undecided | 'out of date';

export const SHOWN_AGAIN: Record<ShownAgain, string> = {
  'out of date': say('This page was out of date, so nothing was decided. Please read it and decide again.'),
  'words changed': say('What this page says has changed since you opened it. Please read it again.'),
  'nothing chosen': say('Choose what the application may read, or cancel.'),
};

/** What the user agreed to with the form of the page with these words. */
export function approvalIn(
  form: Form,
  words: ConsentWords,
  method: Approval['method'],
): Approval | Undecided {
  const choice = choiceIn(form, words);
  return typeof choice === 'string' ? choice : { ...choice, method };
}
