import type { MailContent } from './mail-content.js';

/** A mail on its way out. */
export interface OutgoingMail extends Omit<MailContent, 'logos'> {
  id: string;
  to: string;
  /** PNG images that the HTML shows. */
  images: { cid: string; png: Buffer }[];
}

/** Why a mail could not be sent, without the server's text, which could quote the mail. */
export class SendError extends Error {
  constructor(
    reason: string,
    /** The server has permanently refused this mail. */
    readonly isPermanent: boolean,
  ) {
    super(reason);
  }
}

/** Sends a mail; throws a `SendError` if that fails, or an AbortError. */
export interface MailTransport {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<void>;
  /** Closes connections that are kept. */
  close?(): void;
}
