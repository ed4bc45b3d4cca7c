/** What a mail says, before it becomes text and HTML. Everything in it is shown as text. */
export interface MailText {
  subject: string;
  paragraphs: string[];
  /** The one thing to do. */
  action?: { label: string; url: string };
  /** Said after the action. */
  after?: string[];
  /** Why the person gets it, and how to switch it off. */
  footer: string[];
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
