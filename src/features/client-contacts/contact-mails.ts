import { legible } from '#platform/http/validation/legible-text.js';
import type { MailedApplication, MailText } from '#records/mail/mail-content.js';

/** The texts of the mails to the contacts of clients. */
export const CONTACT_MAILS = {
  verifyContact: (client: MailedApplication, url: string): MailText => ({
    application: client,
    subject: `Confirm your address for ${legible(client.name)}`,
    paragraphs: [
      `The webhook portal of “${legible(client.name)}” names you as a contact. Once you confirm, you get a mail when one of its endpoints is failing or was disabled, and when consents of its users will soon end.`,
      ...behind(client),
      'The link works once, within 24 hours.',
    ],
    action: { label: 'Confirm address', url },
    after: [
      'If you do not know this application, ignore this mail: without the link you get no more of them.',
    ],
    footer: [
      `You get this mail because someone added your address in the webhook portal of “${legible(client.name)}”.`,
    ],
  }),
  endpointFailing: (client: MailedApplication, url: string): MailText => ({
    application: client,
    subject: `A webhook endpoint of ${legible(client.name)} is failing`,
    paragraphs: [
      `At least 10 of the last 20 attempts to deliver events to this endpoint have failed:\n${url}`,
      ...behind(client),
      'Failed deliveries are retried. Open the webhook portal to see the answers of the endpoint. An endpoint that accepts nothing for five days is disabled.',
    ],
    footer: contactFooter(client.name),
  }),
  endpointDisabled: (client: MailedApplication, url: string, cause: string): MailText => ({
    application: client,
    subject: `A webhook endpoint of ${legible(client.name)} was disabled`,
    paragraphs: [
      `This endpoint ${cause}, so no more events are sent to it:\n${url}`,
      ...behind(client),
      'Fix the endpoint, open the webhook portal, enable the endpoint there and send a test. Use “Recover” to resend the deliveries that failed.',
    ],
    footer: contactFooter(client.name),
  }),
  consentsEnding: (client: MailedApplication, { count, days, url }: EndingConsents): MailText => ({
    application: client,
    subject: `Consents to ${legible(client.name)} will soon end`,
    paragraphs: [
      `${count} within ${days === 1 ? 'a day' : `${days} days`}, unless renewed before. Your tokens for the users concerned then stop working.`,
      ...behind(client),
      'Users are told, too, and renew on their account page or by authorizing the application again. The event user.consent_expiring names each of them.',
    ],
    action: { label: 'Open the webhook portal', url },
    footer: contactFooter(client.name),
  }),
} as const;

/** How many consents end and how soon, with a link to the portal. */
export interface EndingConsents {
  /** In words, such as “One consent ends”. */
  count: string;
  days: number;
  url: string;
}

/** The organisation behind an application, if it has one. */
const behind = ({ name, organisation }: MailedApplication): string[] =>
  organisation ? [`“${legible(name)}” is by ${legible(organisation)}.`] : [];

function contactFooter(clientName: string): string[] {
  return [
    `You get this mail as a contact of “${legible(clientName)}”. To get no more of them, use the unsubscribe button of your mail program, or have your address removed from the contacts in the webhook portal.`,
  ];
}
