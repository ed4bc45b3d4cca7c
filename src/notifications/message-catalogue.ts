import type { NotificationCategory } from './notification.entity.js';

/** The words of a kind of notification that the service raises by itself. */
export interface Message {
  messageId: string;
  category: NotificationCategory;
  shortTextTitle: string;
  shortTextBody: string;
  detailPageTitle?: string;
  detailPageBody?: string;
}

/** Every kind of notification that the service raises; the message ids are a promise to partners and never change. */
export const MESSAGES = {
  rateLimitExceeded: (limit: number): Message => ({
    messageId: 'ERR1001',
    category: 'RETRY',
    shortTextTitle: 'Too many requests',
    shortTextBody: `An application asked for your data more than ${limit} times within an hour. It is being held back for a while.`,
    detailPageTitle: 'Why requests are held back',
    detailPageBody:
      'Each application may send a limited number of requests within any hour for each user. Requests beyond that are refused ' +
      'with status 429, and the Retry-After header of the answer says how many seconds to wait. Nothing is lost, and there ' +
      'is nothing you need to do: this notification resolves itself.',
  }),
  refreshTokenReplayed: (clientName: string): Message => ({
    messageId: 'ERR2001',
    category: 'ACTIONABLE',
    shortTextTitle: 'An application was disconnected for your safety',
    shortTextBody: `A sign-in key of “${clientName}” was used a second time, so all of its keys for your account were withdrawn.`,
    detailPageTitle: 'Why an application was disconnected',
    detailPageBody:
      'Applications renew their access with keys that work once. A key that is used again may have been copied. The application ' +
      'has to ask you again before it can read your data. If you do not know the application, do not agree.',
  }),
  newSignIn: (address: string): Message => ({
    messageId: 'ERR2002',
    category: 'SERVICE',
    shortTextTitle: 'A new sign-in to your account',
    shortTextBody: `Somebody signed in to your account from a browser that was not used before (network address ${address}).`,
    detailPageTitle: 'Was this you?',
    detailPageBody:
      'If it was you, there is nothing to do. If not, change your password: that signs out every browser and disconnects what was connected meanwhile.',
  }),
  consentRecorded: (clientName: string): Message => ({
    messageId: 'ERR2003',
    category: 'SERVICE',
    shortTextTitle: 'An application was connected to your account',
    shortTextBody: `We recorded that you agreed to share data with “${clientName}”.`,
    detailPageTitle: 'Why an application was connected',
    detailPageBody:
      'An application can show us that you agreed elsewhere, for example in a contract. If you did not agree, disconnect it or tell us.',
  }),
  endpointDisabled: (url: string, reason: 'gone' | 'failing'): Message => ({
    messageId: 'ERR3001',
    category: 'ACTIONABLE',
    shortTextTitle: 'A webhook endpoint was disabled',
    shortTextBody:
      reason === 'gone'
        ? `${shortened(url)} answered “410 Gone”, so no more events are sent to it.`
        : `${shortened(url)} has accepted no event for five days, so no more events are sent to it.`,
    detailPageTitle: 'How to receive events again',
    detailPageBody:
      'Mend the endpoint, open the webhook portal, enable the endpoint there and send a test. ' +
      'What failed meanwhile can be sent again with “Recover”.',
  }),
} as const;

// The short text has room for 1000 characters; a URL can be longer.
const shortened = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
