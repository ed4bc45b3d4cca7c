import type { Shown } from '../language/text.js';

/** What a mail says, before it becomes text and HTML in a language. Everything in it is shown as text. */
export interface MailText {
  subject: Shown;
  paragraphs: Shown[];
  /** The one thing to do. */
  action?: { label: Shown; url: string };
  /** Said after the action. */
  after?: Shown[];
  /** Why the person gets it, and how to switch it off. */
  footer: Shown[];
}

/** A mail as it is sent. */
export interface MailContent {
  subject: string;
  text: string;
  html: string;
  /** Where mails of its kind are switched off, if they can be. */
  unsubscribeUrl?: string;
  /** The address, where it stands nowhere else: of a person who was erased. */
  to?: string;
}
