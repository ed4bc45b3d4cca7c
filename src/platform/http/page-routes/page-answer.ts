import type { CsvAnswer } from './csv-answer.js';
import type { Readable } from 'node:stream';

/** A redirect to another site, by a page that continues there by itself. */
export interface WayOut {
  leaveTo: string;
  /** The display name of the site; by default it is called an application. */
  name?: string;
  /** The heading of the page, as a message; by default it says where the browser goes. */
  heading?: string;
}

/** A file that the browser saves. */
interface FileAnswer {
  file: { name: string; type: string; text: string };
}

/** Server-Sent Events, for the script of a page; the stream is destroyed when its reader has gone. */
export interface StreamAnswer {
  stream: Readable;
}

/**
 * What a page route returns: a page; a redirect to one, which shows a notice, or once what `showOnce` holds (`PageContext.keepShown`); a
 * file; a stream; or a way out to another site. No route redirects to another site itself, because Chromium checks every redirect after a
 * form against the `form-action` of the form's page.
 */
export type PageAnswer<Page, Notice extends string = never> =
  | { page: Page; status?: number }
  | { goTo: string; status?: 302; notice?: Notice; showOnce?: object }
  | FileAnswer
  | CsvAnswer
  | StreamAnswer
  | WayOut;

/** Rolls back a change if the browser was logged out while the change waited; the visitor is redirected to the login. */
export class NoLongerSignedIn extends Error {}
