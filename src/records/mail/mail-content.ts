import type { Shown } from '#platform/language/text.js';

/** The `Content-ID` of a logo in a mail (RFC 2392): it is a part of the mail, so that nothing is fetched to show it. */
export const cidOf = (logoId: string): string => `${logoId}@logo`;

/** The HTML of a mail without the images of a logo, for one that was removed while the mail waited. */
export const withoutLogo = (html: string, logoId: string): string =>
  html.replaceAll(new RegExp(`<img src="cid:${cidOf(logoId)}"[^>]*>`, 'g'), '');

/** The content of a mail, before it is rendered as text and HTML in a language. All of it is plain text. */
export interface MailText {
  subject: Shown;
  /** The application that it is about. */
  application?: MailedApplication;
  paragraphs: Shown[];
  /** The one thing to do. */
  action?: { label: Shown; url: string };
  /** A paragraph after the action. */
  after?: Shown[];
  /** Why the person gets it, and how to switch it off. */
  footer: Shown[];
}

/** What a mail shows of an application. */
export interface MailedApplication {
  name: string;
  /** Who stands behind it. */
  organisation?: string | null;
  /** The digest of its logo. */
  logoId?: string | null;
}

/** A mail as it is sent. */
export interface MailContent {
  subject: string;
  text: string;
  html: string;
  /** The digests of the logos that the HTML shows. */
  logos?: string[];
  /** Where mails of its kind are switched off, if they can be. */
  unsubscribeUrl?: string;
  /** The address of an erased person, which is stored nowhere else. */
  to?: string;
}
