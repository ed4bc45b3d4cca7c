import type { NotificationCategory } from './notification.entity.js';

/** The text of a notification that the service raises by itself. */
export interface Message {
  messageId: string;
  category: NotificationCategory;
  /**
   * Whether it is also mailed (contract §18): always, because it is about security or an organisation of the user's, or unless the user
   * switched it off. `ACTIONABLE` notifications are optional mails anyway.
   */
  mail?: 'security' | 'organisation' | 'optional';
  shortTextTitle: string;
  shortTextBody: string;
  detailPageTitle?: string;
  detailPageBody?: string;
}

const IF_NOT_YOU = {
  detailPageTitle: 'Was this you?',
  detailPageBody:
    'If it was you, there is nothing to do. If not, change your password, and look under “Security” which passkeys and which app ' +
    'can log in to your account.',
};

/** Every notification that the service raises. The message ids are part of the contract with partners and never change. */
/** Said to a person who gained power, and had perhaps not set all of it. */
const WAYS_ENDED =
  'Because someone else may have set them, the password, passkeys, authenticator app and recovery codes that your account had before ' +
  'no longer work: set new ones.';

export const MESSAGES = {
  rateLimitExceeded: (limit: number): Message => ({
    messageId: 'ERR1001',
    category: 'RETRY',
    shortTextTitle: 'Too many requests',
    shortTextBody: `An application asked for your data more than ${limit} times within an hour. Its requests are refused for a while.`,
    detailPageTitle: 'Why requests are refused',
    detailPageBody:
      'Each application may send a limited number of requests within any hour for each user. Requests beyond that are refused ' +
      'with status 429, and the Retry-After header of the response says how many seconds to wait. Nothing is lost, and there ' +
      'is nothing you need to do: this notification resolves automatically.',
  }),
  rateLimitExceededInSandbox: (limit: number): Message => ({
    messageId: 'ERR1001',
    category: 'RETRY',
    shortTextTitle: 'Too many requests in the sandbox',
    shortTextBody: `Requests of a client in the sandbox are refused for a while: there were more than ${limit} within an hour, or this fault was asked for.`,
    detailPageTitle: 'Why requests are refused',
    detailPageBody:
      'The sandbox limits requests as the live service does, and refuses them on request as well. Nobody’s data is concerned, and ' +
      'there is nothing you need to do: this notification resolves automatically.',
  }),
  refreshTokenReplayed: (clientName: string): Message => ({
    messageId: 'ERR2001',
    category: 'ACTIONABLE',
    shortTextTitle: 'An application was disconnected for your safety',
    shortTextBody: `A token of “${clientName}” was used a second time, so all of its access to your account was revoked.`,
    detailPageTitle: 'Why an application was disconnected',
    detailPageBody:
      'Applications renew their access with tokens that work once. A token that is used again may have been stolen. The application ' +
      'has to ask you again before it can read your data. If you do not know the application, do not authorize it.',
  }),
  newSignIn: (address: string): Message => ({
    messageId: 'ERR2002',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'New login to your account',
    shortTextBody: `Someone logged in to your account from a new browser (IP address ${address}).`,
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'If it was you, there is nothing to do. If not, change your password: that logs out every other browser, and every ' +
      'application has to ask you again.',
  }),
  consentRecorded: (clientName: string): Message => ({
    messageId: 'ERR2003',
    category: 'SERVICE',
    mail: 'optional',
    shortTextTitle: 'An application was connected to your account',
    shortTextBody: `We recorded that you agreed to share data with “${clientName}”.`,
    detailPageTitle: 'Why an application was connected',
    detailPageBody:
      'The application showed that you agreed elsewhere, for example in a contract. If you did not agree, disconnect the application or tell us.',
  }),
  /** `role`: null for someone who is no longer an operator. `isGain`: whether the role is higher than before. */
  operatorRoleChanged: (role: string | null, isGain: boolean): Message => ({
    messageId: 'ERR2701',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your access to the console changed',
    shortTextBody: role
      ? `You are an operator with the role ${role} now. You were logged out everywhere.${isGain ? ` ${WAYS_ENDED}` : ''}`
      : 'You are no longer an operator. You were logged out everywhere.',
    detailPageTitle: 'Why your access changed',
    detailPageBody:
      'An admin, or your company’s directory, decides who is an operator and with which role. If you did not expect this, ask an admin.',
  }),
  /** `factor`: “a passkey” or “an authenticator app”. */
  secondFactorAdded: (factor: string): Message => ({
    messageId: 'ERR2601',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: `You added ${factor}`,
    shortTextBody: `Someone added ${factor} to your account.`,
    ...IF_NOT_YOU,
  }),
  secondFactorRemoved: (factor: string): Message => ({
    messageId: 'ERR2602',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: `You removed ${factor}`,
    shortTextBody: `Someone removed ${factor} from your account.`,
    ...IF_NOT_YOU,
  }),
  secondFactorReset: (): Message => ({
    messageId: 'ERR2603',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your second factor was reset',
    shortTextBody:
      'An operator removed the passkeys, the authenticator app and the recovery codes of your account. You were logged out everywhere.',
    detailPageTitle: 'What to do now',
    detailPageBody:
      'Log in with your password, and add a passkey or an authenticator app again under “Security”. If you did not ask for this, ' +
      'change your password and tell us.',
  }),
  recoveryCodeUsed: (left: number): Message => ({
    messageId: 'ERR2604',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'A recovery code was used',
    shortTextBody: `Someone logged in to your account with a recovery code. ${left === 1 ? 'One code is' : `${left} codes are`} left.`,
    ...IF_NOT_YOU,
  }),
  recoveryCodesMade: (): Message => ({
    messageId: 'ERR2605',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'New recovery codes',
    shortTextBody: 'Someone made new recovery codes for your account. The codes before no longer work.',
    ...IF_NOT_YOU,
  }),
  /** `waysEnded`: whether everything else that opened the account has ended. */
  identityLinked: (providerLabel: string, waysEnded: boolean): Message => ({
    messageId: 'ERR2501',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'You can now log in with another service',
    shortTextBody: `Your account was linked to “${providerLabel}”, where you have the same email address.${waysEnded ? ` ${WAYS_ENDED}` : ''}`,
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'From now on you can log in to your account through that service. If it was not you, change your password and tell us: ' +
      'an operator can remove the link.',
  }),
  addressFollowed: (providerLabel: string): Message => ({
    messageId: 'ERR2502',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your email address changed',
    shortTextBody: `“${providerLabel}”, through which you log in, has another email address for you, so your account has it too. Mail goes there from now on.`,
    detailPageTitle: 'If you did not expect this',
    detailPageBody:
      'Ask the people who manage your account there. Links that were mailed to the earlier address no longer work. If you think that someone else ' +
      'did this, tell us.',
  }),
  passwordChanged: (): Message => ({
    messageId: 'ERR2401',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your password was changed',
    shortTextBody: 'The password of your account was changed. All other browsers were logged out.',
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'If it was you, there is nothing to do. If not, someone else has your password or your mail: set a new password with ' +
      '“Forgot your password?” on the login page, and tell us.',
  }),
  /** `changes`: what was done, each as the end of a sentence that begins with “An operator”. */
  changedByOperator: (changes: string[]): Message => ({
    messageId: 'ERR2402',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'An operator changed your account',
    shortTextBody: `An operator ${changes.join(', and ')}.`,
    detailPageTitle: 'Why this happened',
    detailPageBody:
      'Operators of this service look after accounts, usually because someone asked them to. If you did not expect this, ask us.',
  }),
  deletionRequested: (dueAt: Date): Message => ({
    messageId: 'ERR2404',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your account will be deleted',
    shortTextBody: `You asked us to delete your account. It will be deleted on ${dayOf(dueAt)}. Until then you can keep it: open your account and choose “Keep my account”.`,
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'If it was you, there is nothing to do. If not, open your account, choose “Keep my account”, and change your password: ' +
      'someone else may know it.',
  }),
  deletionCancelled: (): Message => ({
    messageId: 'ERR2405',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your account stays',
    shortTextBody: 'You chose to keep your account. It will not be deleted.',
    detailPageTitle: 'If this was not you',
    detailPageBody: 'Change your password, and ask for the deletion again on your account page.',
  }),
  deletionRefused: (obstacle: 'operator' | 'owns_clients'): Message => ({
    messageId: 'ERR2406',
    category: 'SERVICE',
    mail: 'security',
    shortTextTitle: 'Your account could not be deleted',
    shortTextBody: {
      operator:
        'You are an operator by now, so your account was not deleted. Ask an admin to end that first.',
      owns_clients:
        'Your account owns applications by now, so it was not deleted. Ask us to delete them first.',
    }[obstacle],
    detailPageTitle: 'What to do now',
    detailPageBody: 'After that, ask for the deletion again on your account page.',
  }),
  applicationConnected: (clientName: string): Message => ({
    messageId: 'ERR2403',
    category: 'SERVICE',
    mail: 'optional',
    shortTextTitle: 'You connected an application to your account',
    shortTextBody: `You agreed to share data with “${clientName}”.`,
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'If it was not you, disconnect the application on your account page and change your password: someone else may know it.',
  }),
  consentExpiring: (clientName: string, on: string): Message => ({
    messageId: 'ERR2407',
    category: 'ACTIONABLE',
    shortTextTitle: 'An application soon loses its access',
    shortTextBody: `What you agreed to share with “${clientName}” ends on ${on}.`,
    detailPageTitle: 'What you can do',
    detailPageBody:
      'If you want to go on sharing, renew it on your account page, under “Connected applications”. If you do nothing, the application ' +
      'can no longer read your data from that day on.',
  }),
  consentExpired: (clientName: string): Message => ({
    messageId: 'ERR2408',
    category: 'SERVICE',
    mail: 'optional',
    shortTextTitle: 'An application can no longer read your data',
    shortTextBody: `The time for which you shared data with “${clientName}” is over.`,
    detailPageTitle: 'What you can do',
    detailPageBody:
      'If you want to go on sharing, connect the application again: start in the application. Otherwise there is nothing to do.',
  }),
  /** `role`: null for someone who is no longer a member. */
  membershipChanged: (organisationName: string, role: string | null): Message => ({
    messageId: 'ERR2901',
    category: 'SERVICE',
    mail: 'organisation',
    shortTextTitle: 'Your access to a partner portal changed',
    shortTextBody: role
      ? `You are a member of “${organisationName}” with the role ${role}.`
      : `You are a member of “${organisationName}” no longer.`,
    detailPageTitle: 'What this means',
    detailPageBody:
      'Members work in the partner portal of their organisation, as far as their role goes: viewer, developer or admin. An admin of the ' +
      'organisation, or an operator, decides who is a member.',
  }),
  redirectUriApproved: (clientName: string, what: 'add' | 'remove', uri: string): Message => ({
    messageId: 'ERR2902',
    category: 'SERVICE',
    mail: 'organisation',
    shortTextTitle: `A redirect URI was ${what === 'add' ? 'registered' : 'removed'}`,
    shortTextBody: `The request to ${what} ${shortened(uri)} for “${clientName}” was approved. It applies from now on.`,
    detailPageTitle: 'If you did not expect this',
    detailPageBody:
      'A redirect URI receives the codes of your users. Look at the members of your organisation and at the redirect URIs ' +
      'in the partner portal, and tell us.',
  }),
  redirectUriRejected: (
    clientName: string,
    what: 'add' | 'remove',
    uri: string,
    reason: string | null,
  ): Message => ({
    messageId: 'ERR2903',
    category: 'SERVICE',
    mail: 'organisation',
    shortTextTitle: 'A request about a redirect URI was rejected',
    shortTextBody: `The request to ${what} ${shortened(uri)} for “${clientName}” was rejected. ${reason === null ? 'No reason was given.' : `The reason: ${reason}`}`,
    detailPageTitle: 'What you can do',
    detailPageBody: 'Nothing was changed. You can ask again in the partner portal, or ask us.',
  }),
  /** `what`: what was done, as a sentence. */
  credentialsChanged: (clientName: string, what: string): Message => ({
    messageId: 'ERR2904',
    category: 'SERVICE',
    mail: 'organisation',
    shortTextTitle: 'The credentials of an application were changed',
    shortTextBody: `“${clientName}”: ${what}`,
    detailPageTitle: 'If you did not expect this',
    detailPageBody:
      'An admin of your organisation did this in the partner portal. If nobody knows of it, look at the members, and rotate the secret again ' +
      'without keeping the old one.',
  }),
  /** `cause`: what the endpoint did. */
  endpointDisabled: (url: string, cause: string): Message => ({
    messageId: 'ERR3001',
    category: 'ACTIONABLE',
    shortTextTitle: 'A webhook endpoint was disabled',
    shortTextBody: `${shortened(url)} ${cause}, so no more events are sent to it.`,
    detailPageTitle: 'How to receive events again',
    detailPageBody:
      'Fix the endpoint, open the webhook portal, enable the endpoint there and send a test. ' +
      'Use “Recover” to resend the deliveries that failed.',
  }),
} as const;

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
const dayOf = (at: Date): string => `${DAY.format(at)} UTC`;

// The short text is limited to 1000 characters; a URL can be longer.
const shortened = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
