import { said, say } from '#platform/language/text.js';
import { legible } from '#platform/http/validation/legible-text.js';
import type { MailText } from './mail-content.js';

const IGNORE = say('If you did not ask for this, ignore this mail: nothing happens without the link.');
const PASSWORD_STAYS = say('Your password stays as it is.');
const ENTERED_TO_SIGN_UP = say(
  'You get this mail because someone entered your address to create an account.',
);

/** The texts of mails with a link; those for drivers are messages. */
export const MAIL_TEXTS = {
  verifyEmail: (email: string, url: string): MailText => ({
    subject: say('Confirm your email address'),
    paragraphs: [
      said('Please confirm that {email} is your email address. The link works once, within 24 hours.', {
        email: legible(email),
      }),
    ],
    action: { label: say('Confirm email address'), url },
    after: [IGNORE],
    footer: [say('You get this mail because an account with this address asked for it.')],
  }),
  forgottenPassword: (url: string): MailText => ({
    subject: say('Set a new password'),
    paragraphs: [
      say(
        'Someone asked for a new password for your account. With this link you can set one. It works once, within one hour.',
      ),
    ],
    action: { label: say('Set a new password'), url },
    after: [[IGNORE, PASSWORD_STAYS]],
    footer: [say('You get this mail because someone entered your address on the login page.')],
  }),
  signUp: (url: string): MailText => ({
    subject: say('Create your account'),
    paragraphs: [say('With this link you can create your account. It works once, within 24 hours.')],
    action: { label: say('Create account'), url },
    after: [IGNORE],
    footer: [ENTERED_TO_SIGN_UP],
  }),
  accountExists: (url: string): MailText => ({
    subject: say('You already have an account'),
    paragraphs: [
      say(
        'Someone asked to create an account with your address, but you already have one. Log in with your password.',
      ),
      say('If you forgot it, you can set a new one with this link. It works once, within one hour.'),
    ],
    action: { label: say('Set a new password'), url },
    after: [[IGNORE, PASSWORD_STAYS]],
    footer: [ENTERED_TO_SIGN_UP],
  }),
  dataExport: (url: string, withPassword: boolean): MailText => ({
    subject: say('Your data is ready'),
    paragraphs: [
      say(
        'You asked for the data that we hold about you. With this link you can look at it and download it. It works once, within 24 hours, and only where you are logged in.',
      ),
    ],
    action: { label: say('Look at my data'), url },
    after: [
      withPassword
        ? say(
            'If you did not ask for this, someone else may be logged in to your account: change your password. Without your login, nobody can use the link.',
          )
        : say(
            'If you did not ask for this, someone else may be logged in to your account: log out all other sessions under “Sessions”, and tell us. Without your login, nobody can use the link.',
          ),
    ],
    footer: [say('You get this mail because someone who is logged in to your account asked for your data.')],
  }),
  accountDeleted: (): MailText => ({
    subject: say('Your account was deleted'),
    paragraphs: [
      say(
        'Your account was deleted, as you asked. No application can read your data through this service any more, and each one that could was told.',
      ),
      say('This is the last mail that you get from us. Your address was removed as well.'),
    ],
    footer: [say('You get this mail because you asked us to delete your account.')],
  }),
  invitation: (organisationName: string, url: string): MailText => ({
    subject: `${legible(organisationName)} invites you to its webhook portal`,
    paragraphs: [
      `“${legible(organisationName)}” invites you to work in its webhook portal: the clients, webhooks and requests of the organisation.`,
      'The link works once, within 7 days, for the account with this address. If you have no account yet, you can create one with it.',
    ],
    action: { label: 'Accept the invitation', url },
    after: ['If you do not know this organisation, ignore this mail: nothing happens without the link.'],
    footer: [`You get this mail because an admin of “${legible(organisationName)}” entered your address.`],
  }),
  operatorInvitation: (companyName: string, role: string, url: string): MailText => ({
    subject: `${legible(companyName)} invites you to its console`,
    paragraphs: [
      `“${legible(companyName)}” invites you to be an operator: to work in its console, with the role ${role}.`,
      'The link works once, within 7 days, for the account with this address, and asks for a new password. If you have no account yet, you can create one with it.',
    ],
    action: { label: 'Accept the invitation', url },
    after: ['If you do not expect this, ignore this mail: nothing happens without the link.'],
    footer: [`You get this mail because an admin of “${legible(companyName)}” entered your address.`],
  }),
} as const;
