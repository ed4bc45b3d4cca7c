import type { BrowserSession } from './browser-session.js';

/** The file of a receipt, as those who verify it read it (docs/consent-receipts.md). */
export interface SignedReceipt {
  receipt: {
    record_id: string;
    scopes: string[];
    purposes: string[];
    words: { language: string; digest: string; text: string } | null;
  };
  protected: string;
  payload: string;
  signature: string;
}

/** The receipt of a version of a consent, as its user downloads it. */
export const receiptOf = async (browser: BrowserSession, id: string): Promise<SignedReceipt> =>
  JSON.parse((await browser.open(`/account/receipts/${id}/file`)).text) as SignedReceipt;
