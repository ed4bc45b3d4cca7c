import type { OpenAnswer } from '#platform/http/page-routes/open-pages.js';
import { said, say } from '#platform/language/text.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { REFUSAL_STATUS, type SignInRefusalReason } from '../refusals.js';

interface Text {
  heading: string;
  /** Each paragraph is a message, with the provider as `{label}`. */
  text: string[];
}

/** Left out for someone who is: the refused login was to confirm that. */
const NOT_LOGGED_IN = say('You are not logged in.');

const ASK = say('If you should have access, ask an operator of this service.');
const TELL = say('Tell an operator of this service: trying again does not help.');

const TEXTS: Record<SignInRefusalReason, Text> = {
  provider_unavailable: {
    heading: say('This login does not work at the moment'),
    text: [
      say('{label} cannot be reached, or does not answer.'),
      NOT_LOGGED_IN,
      say('Try again in a few minutes.'),
    ],
  },
  provider_busy: {
    heading: say('Too many logins at the moment'),
    text: [
      say('{label} says that it receives too many requests from this service.'),
      NOT_LOGGED_IN,
      say('Try again in a few minutes.'),
    ],
  },
  provider_redirects: {
    heading: say('This login does not work'),
    text: [
      say('{label} has moved: the address that this service knows leads somewhere else.'),
      NOT_LOGGED_IN,
      TELL,
    ],
  },
  provider_answer_unreadable: {
    heading: say('This login does not work at the moment'),
    text: [
      say(
        'The answer did not come in the form that {label} uses. Perhaps something else answers in its place, such as a proxy.',
      ),
      NOT_LOGGED_IN,
      say('Try again in a few minutes. If it happens again, tell an operator of this service.'),
    ],
  },
  provider_metadata_invalid: {
    heading: say('This login does not work'),
    text: [
      say(
        'What {label} says about itself does not fit the settings of this service, so nobody can log in through it.',
      ),
      NOT_LOGGED_IN,
      TELL,
    ],
  },
  client_refused: {
    heading: say('This login does not work'),
    text: [
      say('{label} does not accept this service, so nobody can log in through it.'),
      NOT_LOGGED_IN,
      TELL,
    ],
  },
  provider_refused: {
    heading: say('The login was not completed'),
    text: [
      say('You cancelled, or {label} refused the login.'),
      NOT_LOGGED_IN,
      say('Try again. If it happens again, ask for help at {label}.'),
    ],
  },
  provider_answer_invalid: {
    heading: say('The answer could not be accepted'),
    text: [
      say('What {label} answered does not belong to this login, or does not prove who you are.'),
      NOT_LOGGED_IN,
      say('Start again. If it happens again, tell an operator of this service.'),
    ],
  },
  sign_in_expired: {
    heading: say('This login has expired'),
    text: [
      say('A login has to be finished within 10 minutes, in the browser in which it began, and works once.'),
      say('Start again from the login page. Your browser has to accept cookies.'),
    ],
  },
  authentication_too_weak: {
    heading: say('A stronger login is needed'),
    text: [
      say(
        '{label} does not say that you logged in as this service requires, for example with a second factor.',
      ),
      NOT_LOGGED_IN,
      say('Set up a second factor at {label}, and then log in again.'),
    ],
  },
  authentication_not_recent: {
    heading: say('A new login is needed'),
    text: [
      say('{label} does not say that you logged in there again, as this action requires.'),
      say(
        'Log out at {label}, and then repeat the action. If it happens again, tell an operator of this service.',
      ),
    ],
  },
  email_missing: {
    heading: say('Your email address is needed'),
    text: [
      say('{label} did not send an email address, so there is no account for you here.'),
      say(
        'Log in again, and allow {label} to share your address. If it happens again, tell an operator of this service.',
      ),
    ],
  },
  email_not_verified: {
    heading: say('Your email address is not verified'),
    text: [
      say(
        '{label} does not say that it has verified your email address, so there is no account for you here.',
      ),
      say('Verify the address at {label}, and then log in again.'),
    ],
  },
  email_verification_unknown: {
    heading: say('Your email address could not be checked'),
    text: [
      say(
        '{label} does not say whether it has verified your email address, so there is no account for you here.',
      ),
      TELL,
    ],
  },
  no_account: {
    heading: say('There is no account for you'),
    text: [say('You proved who you are at {label}, but no account here belongs to you.'), ASK],
  },
  account_disabled: {
    heading: say('Your account is disabled'),
    text: [say('You cannot log in while your account is disabled.'), ASK],
  },
  not_for_you: {
    heading: say('This login is not for your account'),
    text: [say('Accounts of your kind do not log in through {label}. Choose another way to log in.'), ASK],
  },
};

/** Says why a login through a provider was refused, and what to do. */
export function refusalPage(
  reason: SignInRefusalReason,
  {
    label,
    returnTo,
    requestId,
    isLoggedIn = false,
  }: { label: string; returnTo?: string; requestId: string; isLoggedIn?: boolean },
): OpenAnswer {
  const { heading, text } = TEXTS[reason];
  const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
  return {
    status: REFUSAL_STATUS[reason],
    page: messagePage({
      title: heading,
      heading,
      text: text
        .filter((message) => !isLoggedIn || message !== NOT_LOGGED_IN)
        .map((message) => said(message, { label })),
      action: { href: `/login${query}`, label: say('Go to the login page') },
      requestId,
      isTranslated: true,
    }),
  };
}
