import type { AccessWords, ConsentWords } from './consent-words.js';

/** What the words of a consent page depend on. */
export interface PageSubject {
  application: string;
  access: AccessWords[];
  /** What the application wants the data for. */
  purposes: string[];
  /** Null: for as long as the user wants. */
  expiryDays: number | null;
  /** Host to which the browser goes after the decision. */
  redirectHost: string;
  /** The user owns the application, so it can also open the webhook portal. */
  isOwned: boolean;
}

/** The words of the consent page. */
export const consentPageWords = ({
  application,
  access,
  purposes,
  expiryDays,
  redirectHost,
  isOwned,
}: PageSubject): ConsentWords => ({
  language: 'en',
  application,
  heading: headingFor(application, 'your'),
  access,
  purposes,
  notes: [
    ...(isOwned
      ? [
          `This application is yours. If you authorize it, it can also open the webhook portal for ${application}.`,
        ]
      : []),
    ...endOf(expiryDays),
    `Either way, your browser then goes to ${redirectHost}. If you cancel, nothing new is shared. If you authorize, you can disconnect the application at any time.`,
  ],
});

/** The words of the same page in a sandbox, where someone answers for a driver. */
export const sandboxPageWords = ({
  application,
  access,
  purposes,
  redirectHost,
  expiryDays,
}: Omit<PageSubject, 'isOwned'>): ConsentWords => ({
  language: 'en',
  application,
  heading: headingFor(application, 'a driver’s'),
  access,
  purposes,
  notes: [...endOf(expiryDays), `If you authorize or cancel, your browser then goes to ${redirectHost}.`],
});

/** The words of the account page on which a user changes or renews a consent. */
export const choicePageWords = ({
  application,
  access,
  purposes,
  expiryDays,
}: Pick<PageSubject, 'application' | 'access' | 'purposes' | 'expiryDays'>): ConsentWords => ({
  language: 'en',
  application,
  heading: `What ${application} may read`,
  access,
  purposes,
  notes: [...endOf(expiryDays), 'You can disconnect the application at any time.'],
});

const headingFor = (application: string, whose: string): string =>
  `Let ${application} read ${whose} charging data?`;

const endOf = (days: number | null): string[] =>
  days === null
    ? []
    : [
        `What you agree to holds for ${days === 1 ? 'one day' : `${days} days`}, unless you renew it. We remind you before it ends.`,
      ];
