import { said, say, type Shown } from '#platform/language/text.js';
import type { MailedApplication } from '#records/mail/mail-content.js';
import type { NotificationCategory } from './notification.entity.js';

/** The kinds of mail that notifications are sent as (contract §18). */
export type NotificationMailKind = 'security' | 'organisation' | 'application_connected' | 'actionable';

/** A notification that the service raises itself: its texts are messages, so that each reader gets them in their language. */
export interface Message {
  messageId: string;
  category: NotificationCategory;
  /**
   * As what it is also mailed: always, if it is about security or an organisation of the user's, otherwise unless the user switched
   * off mails of that kind. `ACTIONABLE` notifications are `actionable` mails anyway.
   */
  mail?: NotificationMailKind;
  /** The application it is about and the organisation behind it, for the mail. */
  application?: MailedApplication;
  shortTextTitle: Shown;
  shortTextBody: Shown;
  detailPageTitle?: Shown;
  detailPageBody?: Shown;
  /** In place of `detailPageBody` while passwords are switched off. */
  bodyWithoutPasswords?: Shown;
}

/** What else is known of an application: who is behind it, and its logo. */
interface Known {
  organisation?: string | null;
  logoId?: string | null;
}

/** Picks these members, because the argument may be a whole client. */
const applicationOf = (name: string, { organisation, logoId }: Known = {}): Message['application'] => ({
  name,
  organisation,
  logoId,
});

export type FactorName = 'passkey' | 'app';

const WAS_THIS_YOU = say('Was this you?');
const IF_NOT_EXPECTED = say('If you did not expect this');
const WHAT_NOW = say('What to do now');
const WHAT_YOU_CAN_DO = say('What you can do');

const IF_NOT_YOU = {
  detailPageTitle: WAS_THIS_YOU,
  detailPageBody: say(
    'If it was you, there is nothing to do. If not, change your password, and look under “Security” which passkeys and which app can log in to your account.',
  ),
  bodyWithoutPasswords: say(
    'If it was you, there is nothing to do. If not, log out all other sessions under “Sessions”, look under “Security” which passkeys and which app can log in to your account, and tell us.',
  ),
};

/** Told to a person who gained power, in case others had set some of the ways to log in. */
const WAYS_ENDED = say(
  'Because someone else may have set them, the password, passkeys, authenticator app and recovery codes that your account had before no longer work: set new ones.',
);

/** A notification that is mailed always. */
const mailed = (mail: 'security' | 'organisation', messageId: string) =>
  ({ messageId, category: 'SERVICE', mail }) as const;

/** Every notification that the service raises. The message ids are part of the contract with partners and never change. */
export const MESSAGES = {
  rateLimitExceeded: (limit: number): Message => ({
    messageId: 'ERR1001',
    category: 'RETRY',
    shortTextTitle: say('Too many requests'),
    shortTextBody: said(
      'An application asked for your data more than {limit} times within an hour. Its requests are refused for a while.',
      { limit },
    ),
    detailPageTitle: say('Why requests are refused'),
    detailPageBody: say(
      'Each application may send a limited number of requests within any hour for each user. Requests beyond that are refused with status 429, and the Retry-After header of the response says how many seconds to wait. Nothing is lost, and there is nothing you need to do: this notification resolves automatically.',
    ),
  }),
  rateLimitExceededInSandbox: (limit: number): Message => ({
    messageId: 'ERR1001',
    category: 'RETRY',
    shortTextTitle: say('Too many requests in the sandbox'),
    shortTextBody: said(
      'Requests of a client in the sandbox are refused for a while: there were more than {limit} within an hour, or this fault was asked for.',
      { limit },
    ),
    detailPageTitle: say('Why requests are refused'),
    detailPageBody: say(
      'The sandbox limits requests as the live service does, and refuses them on request as well. Nobody’s data is concerned, and there is nothing you need to do: this notification resolves automatically.',
    ),
  }),
  refreshTokenReplayed: (name: string, known?: Known): Message => ({
    messageId: 'ERR2001',
    application: applicationOf(name, known),
    category: 'ACTIONABLE',
    shortTextTitle: say('Access of an application was ended for your safety'),
    shortTextBody: said(
      'A token of “{name}” was used a second time, so the access that it belonged to was ended.',
      { name },
    ),
    detailPageTitle: say('Why access was ended'),
    detailPageBody: say(
      'Applications renew their access with tokens that work once. A token that is used again may have been stolen. The application stays connected, and has to ask you again where it lost its access. If you do not know or trust it, disconnect it on your account page.',
    ),
  }),
  newSignIn: (address: string): Message => ({
    ...mailed('security', 'ERR2002'),
    shortTextTitle: say('New login to your account'),
    shortTextBody: said('Someone logged in to your account from a new browser (IP address {address}).', {
      address,
    }),
    detailPageTitle: WAS_THIS_YOU,
    detailPageBody: say(
      'If it was you, there is nothing to do. If not, change your password: that logs out every other browser, and every application has to ask you again.',
    ),
    bodyWithoutPasswords: say(
      'If it was you, there is nothing to do. If not, log out all other sessions under “Sessions”, and tell us.',
    ),
  }),
  consentRecorded: (name: string, known?: Known): Message => ({
    messageId: 'ERR2003',
    application: applicationOf(name, known),
    category: 'SERVICE',
    mail: 'application_connected',
    shortTextTitle: say('An application was connected to your account'),
    shortTextBody: said('We recorded that you agreed to share data with “{name}”.', { name }),
    detailPageTitle: say('Why an application was connected'),
    detailPageBody: say(
      'The application showed that you agreed elsewhere, for example in a contract. If you did not agree, disconnect the application or tell us.',
    ),
  }),
  /** `role`: null for someone who is no longer an operator. `isGain`: whether the role is higher than before. */
  operatorRoleChanged: (role: string | null, isGain: boolean): Message => ({
    ...mailed('security', 'ERR2701'),
    shortTextTitle: say('Your access to the console changed'),
    shortTextBody: role
      ? [
          said('You are an operator with the role {role} now. You were logged out everywhere.', { role }),
          ...(isGain ? [WAYS_ENDED] : []),
        ]
      : say('You are no longer an operator. You were logged out everywhere.'),
    detailPageTitle: say('Why your access changed'),
    detailPageBody: say(
      'An admin, or your company’s directory, decides who is an operator and with which role. If you did not expect this, ask an admin.',
    ),
  }),
  secondFactorAdded: (factor: FactorName): Message => ({
    ...mailed('security', 'ERR2601'),
    shortTextTitle: said('You added {factor, select, app {an authenticator app} other {a passkey}}', {
      factor,
    }),
    shortTextBody: said(
      'Someone added {factor, select, app {an authenticator app} other {a passkey}} to your account.',
      { factor },
    ),
    ...IF_NOT_YOU,
  }),
  secondFactorRemoved: (factor: FactorName): Message => ({
    ...mailed('security', 'ERR2602'),
    shortTextTitle: said('You removed {factor, select, app {an authenticator app} other {a passkey}}', {
      factor,
    }),
    shortTextBody: said(
      'Someone removed {factor, select, app {an authenticator app} other {a passkey}} from your account.',
      { factor },
    ),
    ...IF_NOT_YOU,
  }),
  secondFactorReset: (): Message => ({
    ...mailed('security', 'ERR2603'),
    shortTextTitle: say('Your second factor was reset'),
    shortTextBody: say(
      'An operator removed the passkeys, the authenticator app and the recovery codes of your account. You were logged out everywhere.',
    ),
    detailPageTitle: WHAT_NOW,
    detailPageBody: say(
      'Log in with your password, and add a passkey or an authenticator app again under “Security”. If you did not ask for this, change your password and tell us.',
    ),
    bodyWithoutPasswords: say(
      'Log in again, and add a passkey or an authenticator app again under “Security”. If you did not ask for this, tell us.',
    ),
  }),
  recoveryCodeUsed: (left: number): Message => ({
    ...mailed('security', 'ERR2604'),
    shortTextTitle: say('A recovery code was used'),
    shortTextBody: said(
      'Someone logged in to your account with a recovery code. {left, plural, one {One code is left.} other {# codes are left.}}',
      { left },
    ),
    ...IF_NOT_YOU,
  }),
  recoveryCodesMade: (): Message => ({
    ...mailed('security', 'ERR2605'),
    shortTextTitle: say('New recovery codes'),
    shortTextBody: say('Someone made new recovery codes for your account. The codes before no longer work.'),
    ...IF_NOT_YOU,
  }),
  /** `waysEnded`: whether everything else that opened the account has ended. */
  identityLinked: (providerLabel: string, waysEnded: boolean): Message => ({
    ...mailed('security', 'ERR2501'),
    shortTextTitle: say('You can now log in with another service'),
    shortTextBody: [
      said('Your account was linked to “{providerLabel}”, where you have the same email address.', {
        providerLabel,
      }),
      ...(waysEnded ? [WAYS_ENDED] : []),
    ],
    detailPageTitle: WAS_THIS_YOU,
    detailPageBody: say(
      'From now on you can log in to your account through that service. If it was not you, change your password and tell us: an operator can remove the link.',
    ),
    bodyWithoutPasswords: say(
      'From now on you can log in to your account through that service. If it was not you, tell us: an operator can remove the link.',
    ),
  }),
  addressFollowed: (providerLabel: string): Message => ({
    ...mailed('security', 'ERR2502'),
    shortTextTitle: say('Your email address changed'),
    shortTextBody: said(
      '“{providerLabel}”, through which you log in, has another email address for you, so your account has it too. Mail goes there from now on.',
      { providerLabel },
    ),
    detailPageTitle: IF_NOT_EXPECTED,
    detailPageBody: say(
      'Ask the people who manage your account there. Links that were mailed to the earlier address no longer work. If you think that someone else did this, tell us.',
    ),
  }),
  passwordChanged: (): Message => ({
    ...mailed('security', 'ERR2401'),
    shortTextTitle: say('Your password was changed'),
    shortTextBody: say('The password of your account was changed. All other browsers were logged out.'),
    detailPageTitle: WAS_THIS_YOU,
    detailPageBody: say(
      'If it was you, there is nothing to do. If not, someone else has your password or your mail: set a new password with “Forgot your password?” on the login page, and tell us.',
    ),
  }),
  /** `changes`: what was done, each a message. */
  changedByOperator: (changes: string[]): Message => ({
    ...mailed('security', 'ERR2402'),
    shortTextTitle: say('An operator changed your account'),
    shortTextBody: changes,
    detailPageTitle: say('Why this happened'),
    detailPageBody: say(
      'Operators of this service look after accounts, usually because someone asked them to. If you did not expect this, ask us.',
    ),
  }),
  deletionRequested: (dueAt: Date): Message => ({
    ...mailed('security', 'ERR2404'),
    shortTextTitle: say('Your account will be deleted'),
    shortTextBody: said(
      'You asked us to delete your account. It will be deleted on {dueAt, date, moment} UTC. Until then you can keep it: open your account and choose “Keep my account”.',
      { dueAt: dueAt.getTime() },
    ),
    detailPageTitle: WAS_THIS_YOU,
    detailPageBody: say(
      'If it was you, there is nothing to do. If not, open your account, choose “Keep my account”, and change your password: someone else may know it.',
    ),
    bodyWithoutPasswords: say(
      'If it was you, there is nothing to do. If not, open your account, choose “Keep my account”, log out all other sessions under “Sessions”, and tell us.',
    ),
  }),
  deletionCancelled: (): Message => ({
    ...mailed('security', 'ERR2405'),
    shortTextTitle: say('Your account stays'),
    shortTextBody: say('You chose to keep your account. It will not be deleted.'),
    detailPageTitle: say('If this was not you'),
    detailPageBody: say('Change your password, and ask for the deletion again on your account page.'),
    bodyWithoutPasswords: say(
      'Log out all other sessions under “Sessions”, and ask for the deletion again on your account page.',
    ),
  }),
  deletionRefused: (obstacle: 'operator' | 'owns_clients'): Message => ({
    ...mailed('security', 'ERR2406'),
    shortTextTitle: say('Your account could not be deleted'),
    shortTextBody: {
      operator: say(
        'You are an operator by now, so your account was not deleted. Ask an admin to end that first.',
      ),
      owns_clients: say(
        'Your account owns applications by now, so it was not deleted. Ask us to delete them first.',
      ),
    }[obstacle],
    detailPageTitle: WHAT_NOW,
    detailPageBody: say('After that, ask for the deletion again on your account page.'),
  }),
  applicationConnected: (name: string, known?: Known): Message => ({
    messageId: 'ERR2403',
    application: applicationOf(name, known),
    category: 'SERVICE',
    mail: 'application_connected',
    shortTextTitle: say('You connected an application to your account'),
    shortTextBody: said('You agreed to share data with “{name}”.', { name }),
    detailPageTitle: WAS_THIS_YOU,
    detailPageBody: say(
      'If it was not you, disconnect the application on your account page and change your password: someone else may know it.',
    ),
    bodyWithoutPasswords: say(
      'If it was not you, disconnect the application on your account page, log out all other sessions under “Sessions”, and tell us.',
    ),
  }),
  consentExpiring: (name: string, known: Known, on: Date): Message => ({
    messageId: 'ERR2407',
    application: applicationOf(name, known),
    category: 'ACTIONABLE',
    shortTextTitle: say('An application soon loses its access'),
    shortTextBody: said('What you agreed to share with “{name}” ends on {on, date, long}.', {
      name,
      on: on.getTime(),
    }),
    detailPageTitle: WHAT_YOU_CAN_DO,
    detailPageBody: say(
      'If you want to go on sharing, renew it on your account page, under “Connected applications”. If you do nothing, the application can no longer read your data from that day on.',
    ),
  }),
  consentExpired: (name: string, known?: Known): Message => ({
    messageId: 'ERR2408',
    application: applicationOf(name, known),
    category: 'SERVICE',
    mail: 'actionable',
    shortTextTitle: say('An application can no longer read your data'),
    shortTextBody: said('The time for which you shared data with “{name}” is over.', { name }),
    detailPageTitle: WHAT_YOU_CAN_DO,
    detailPageBody: say(
      'If you want to go on sharing, connect the application again: start in the application. Otherwise there is nothing to do.',
    ),
  }),
  /** `role`: null for someone who is no longer a member. */
  membershipChanged: (organisationName: string, role: string | null): Message => ({
    ...mailed('organisation', 'ERR2901'),
    shortTextTitle: say('Your access to a webhook portal changed'),
    shortTextBody: role
      ? said('You are a member of “{organisationName}” with the role {role}.', { organisationName, role })
      : said('You are a member of “{organisationName}” no longer.', { organisationName }),
    detailPageTitle: say('What this means'),
    detailPageBody: say(
      'Members work in the webhook portal of their organisation, as far as their role goes: viewer, developer or admin. An admin of the organisation, or an operator, decides who is a member.',
    ),
  }),
  redirectUriApproved: (clientName: string, what: 'add' | 'remove', uri: string): Message => ({
    ...mailed('organisation', 'ERR2902'),
    shortTextTitle: said('A redirect URI was {what, select, add {registered} other {removed}}', { what }),
    shortTextBody: said(
      'The request to {what, select, add {add} other {remove}} {uri} for “{clientName}” was approved. It applies from now on.',
      { what, uri: shortened(uri), clientName },
    ),
    detailPageTitle: IF_NOT_EXPECTED,
    detailPageBody: say(
      'A redirect URI receives the codes of your users. Look at the members of your organisation and at the redirect URIs in the webhook portal, and tell us.',
    ),
  }),
  redirectUriRejected: (
    clientName: string,
    what: 'add' | 'remove',
    uri: string,
    reason: string | null,
  ): Message => ({
    ...mailed('organisation', 'ERR2903'),
    shortTextTitle: say('A request about a redirect URI was rejected'),
    shortTextBody: [
      said('The request to {what, select, add {add} other {remove}} {uri} for “{clientName}” was rejected.', {
        what,
        uri: shortened(uri),
        clientName,
      }),
      reason === null ? say('No reason was given.') : said('The reason: {reason}', { reason }),
    ],
    detailPageTitle: WHAT_YOU_CAN_DO,
    detailPageBody: say('Nothing was changed. You can ask again in the webhook portal, or ask us.'),
  }),
  credentialsChanged: (clientName: string, what: 'rotated' | 'ended'): Message => ({
    ...mailed('organisation', 'ERR2904'),
    shortTextTitle: say('The credentials of an application were changed'),
    shortTextBody: said(
      '“{clientName}”: {what, select, rotated {the secret was rotated.} other {an old secret was ended.}}',
      { clientName, what },
    ),
    detailPageTitle: IF_NOT_EXPECTED,
    detailPageBody: say(
      'An admin of your organisation did this in the webhook portal. If nobody knows of it, look at the members, and rotate the secret again without keeping the old one.',
    ),
  }),
  keysChanged: (clientName: string, what: 'added' | 'ended'): Message => ({
    ...mailed('organisation', 'ERR2904'),
    shortTextTitle: say('The credentials of an application were changed'),
    shortTextBody: said(
      '“{clientName}”: {what, select, added {a public key was added.} other {a public key was ended.}}',
      {
        clientName,
        what,
      },
    ),
    detailPageTitle: IF_NOT_EXPECTED,
    detailPageBody: say(
      'An admin of your organisation did this in the webhook portal. If nobody knows of it, look at the members, and end the keys that you do not know.',
    ),
  }),
  endpointDisabled: (url: string, reason: 'gone' | 'failing'): Message => ({
    messageId: 'ERR3001',
    category: 'ACTIONABLE',
    shortTextTitle: say('A webhook endpoint was disabled'),
    shortTextBody: said(
      '{url} {reason, select, gone {responded with “410 Gone”} other {accepted no events for five days}}, so no more events are sent to it.',
      { url: shortened(url), reason },
    ),
    detailPageTitle: say('How to receive events again'),
    detailPageBody: say(
      'Fix the endpoint, open the webhook portal, enable the endpoint there and send a test. Use “Recover” to resend the deliveries that failed.',
    ),
  }),
} as const;

// The short text is limited to 1000 characters; a URL can be longer.
const shortened = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
