import { say } from '#platform/language/text.js';
import type { ConsentMethod } from '../consent-terms.js';
import type { ConsentEventType } from './consent-version.entity.js';

/** What happened to a consent, for its user: messages. */
export const EVENT_WORDS: Record<ConsentEventType, string> = {
  given: say('You agreed'),
  changed: say('What you agreed to changed'),
  ended: say('The sharing ended'),
};

const METHODS: Record<ConsentMethod, string> = {
  page: say('You authorized the application on its consent page.'),
  account: say('You decided it on your account page.'),
  operator: say('Our staff recorded it for you.'),
  sandbox: say('Someone answered for a driver in a sandbox.'),
  import: say('It was imported from another system.'),
  schedule: say('Its time was over.'),
  service: say('It ended together with the application or the account.'),
};

const ASKED_ANEW = say('We changed what the words mean, so you are asked again.');
const ENDED_BY_STAFF = say('Our staff ended it.');

/** The message that says how it came about. */
export const howOf = (method: ConsentMethod, reason: string | null): string => {
  if (reason === 'words_changed') return ASKED_ANEW;
  return reason === 'revoked_by_operator' ? ENDED_BY_STAFF : METHODS[method];
};
