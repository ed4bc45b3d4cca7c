import type { MailContent } from './mail-content.js';

/** A mail on its way out. */
export interface OutgoingMail extends Omit<MailContent, 'logos'> {
  id: string;
  to: string;
  /** PNG images that the HTML shows. */
  images: { cid: string; png: Buffer }[];
}

/** Why a mail could not be sent, in our own words: nothing that a server said, which could quote the mail. */
export class SendError extends Error {
  constructor(
    reason: string,
    /** The server will never take this mail. */
    readonly isPermanent: boolean,
  ) {
    super(reason);
  }
}

/** Hands a mail on; throws a `SendError` if that fails, or an AbortError. */
export interface MailTransport {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** Closes connections that are kept. */
  close?(): void;
}
