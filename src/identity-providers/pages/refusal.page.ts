import type { OpenAnswer } from '../../http/page-routes/open-pages.js';
import { messagePage } from '../../web/layout/message.page.js';
import { REFUSAL_STATUS, type SignInRefusalReason } from '../refusals.js';

interface Text {
  heading: string;
  text: (label: string) => string | string[];
}

const ASK = 'If you should have access, ask an operator of this service.';
const NOT_LOGGED_IN = 'You are not logged in.';
const TELL = 'Tell an operator of this service: trying again does not help.';
const TELL_IF_AGAIN = 'If it happens again, tell an operator of this service.';

const TEXTS: Record<SignInRefusalReason, Text> = {
  provider_unavailable: {
    heading: 'This login does not work at the moment',
    text: (label) => [
      `${label} cannot be reached, or does not answer. ${NOT_LOGGED_IN}`,
      'Try again in a few minutes.',
    ],
  },
  provider_busy: {
    heading: 'Too many logins at the moment',
    text: (label) => [
      `${label} says that it receives too many requests from this service. ${NOT_LOGGED_IN}`,
      'Try again in a few minutes.',
    ],
  },
  provider_redirects: {
    heading: 'This login does not work',
    text: (label) => [
      `${label} has moved: the address that this service knows leads somewhere else. ${NOT_LOGGED_IN}`,
      TELL,
    ],
  },
  provider_answer_unreadable: {
    heading: 'This login does not work at the moment',
    text: (label) => [
      `The answer did not come in the form that ${label} uses. Perhaps something else answers in its place, such as a proxy. ${NOT_LOGGED_IN}`,
      `Try again in a few minutes. ${TELL_IF_AGAIN}`,
    ],
  },
  client_refused: {
    heading: 'This login does not work',
    text: (label) => [
      `${label} does not accept this service, so nobody can log in through it. ${NOT_LOGGED_IN}`,
      TELL,
    ],
  },
  provider_refused: {
    heading: 'The login was not completed',
    text: (label) => [
      `You cancelled, or ${label} refused the login. ${NOT_LOGGED_IN}`,
      `Try again. If it happens again, ask for help at ${label}.`,
    ],
  },
  provider_answer_invalid: {
    heading: 'The answer could not be accepted',
    text: (label) => [
      `What ${label} answered does not belong to this login, or does not prove who you are. ${NOT_LOGGED_IN}`,
      `Start again. ${TELL_IF_AGAIN}`,
    ],
  },
  sign_in_expired: {
    heading: 'This login has expired',
    text: () => [
      'A login has to be finished within 10 minutes, in the browser in which it began, and works once.',
      'Start again from the login page. Your browser has to accept cookies.',
    ],
  },
  authentication_too_weak: {
    heading: 'A stronger login is needed',
    text: (label) => [
      `${label} does not say that you logged in as this service requires, for example with a second factor. ${NOT_LOGGED_IN}`,
      `Set up a second factor at ${label}, and then log in again.`,
    ],
  },
  authentication_not_recent: {
    heading: 'A new login is needed',
    text: (label) => [
      `${label} does not say that you logged in there again, as this action requires.`,
      `Log out at ${label}, and then repeat the action. ${TELL_IF_AGAIN}`,
    ],
  },
  email_missing: {
    heading: 'Your email address is needed',
    text: (label) => [
      `${label} did not send an email address, so there is no account for you here.`,
      `Log in again, and allow ${label} to share your address. ${TELL_IF_AGAIN}`,
    ],
  },
  email_not_verified: {
    heading: 'Your email address is not verified',
    text: (label) => [
      `${label} does not say that it has verified your email address, so there is no account for you here.`,
      `Verify the address at ${label}, and then log in again.`,
    ],
  },
  no_account: {
    heading: 'There is no account for you',
    text: (label) => [`You proved who you are at ${label}, but no account here belongs to you.`, ASK],
  },
  account_disabled: {
    heading: 'Your account is disabled',
    text: () => ['You cannot log in while your account is disabled.', ASK],
  },
  not_for_you: {
    heading: 'This login is not for your account',
    text: (label) => [
      `Accounts of your kind do not log in through ${label}. Choose another way to log in.`,
      ASK,
    ],
  },
};

/** Says why a login through a provider was refused, and what to do. */
export function refusalPage(
  reason: SignInRefusalReason,
  { label, returnTo, requestId }: { label: string; returnTo?: string; requestId: string },
): OpenAnswer {
  const { heading, text } = TEXTS[reason];
  const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
  return {
    status: REFUSAL_STATUS[reason],
    page: messagePage({
      title: heading,
      heading,
      text: text(label),
      action: { href: `/login${query}`, label: 'Go to the login page' },
      requestId,
    }),
  };
}
