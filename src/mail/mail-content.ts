import type { Shown } from '../language/text.js';

/** What a mail says, before it becomes text and HTML in a language. Everything in it is shown as text. */
export interface MailText {
  subject: Shown;
  /** The application that it is about. */
  application?: MailedApplication;
  paragraphs: Shown[];
  /** The one thing to do. */
  action?: { label: Shown; url: string };
  /** Said after the action. */
  after?: Shown[];
  /** Why the person gets it, and how to switch it off. */
  footer: Shown[];
}

/** What a mail shows of an application. */
export interface MailedApplication {
  name: string;
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
  /** The address, where it stands nowhere else: of a person who was erased. */
  to?: string;
}
