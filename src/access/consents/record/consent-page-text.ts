import type { ClientEntity } from '#access/clients/client.entity.js';
import { scopeWordsIn, type ScopeEntity } from '#access/scopes/scope.entity.js';
import type { Language } from '#platform/language/languages.js';
import { text, type TextValues } from '#platform/language/text.js';
import type { AccessWords, ConsentWords } from './consent-words.js';

/** What each scope lets the client read, and whether the user may leave it out. */
export const accessWords = (client: ClientEntity, scopes: ScopeEntity[], language: Language): AccessWords[] =>
  scopes.map(({ name, meaningChangedAt, ...scope }) => ({
    scope: name,
    words: scopeWordsIn(scope, language),
    optional: client.optionalScopes.includes(name),
    meaningChangedAt,
  }));

/** What the words of a consent page depend on. */
export interface PageSubject {
  language: Language;
  application: string;
  organisation: string | null;
  access: AccessWords[];
  /** What the application wants the data for. */
  purposes: string[];
  /** For how many days; null: for as long as the user wants; or until what the page does not show ends. */
  expiryDays: number | null | 'as before';
  /** Host to which the browser goes after the decision. */
  redirectHost: string;
  /** The user owns the application, so it can also open the webhook portal. */
  isOwned: boolean;
}

/** The words of the consent page, in the language of its reader. */
export function consentPageText(subject: PageSubject): ConsentWords {
  const { language, application, expiryDays, redirectHost, isOwned } = subject;
  const t = (english: string, values?: TextValues) => text(language, english, values);
  return wordsOf(subject, t('Let {application} read your charging data?', { application }), [
    ...(isOwned
      ? [
          t(
            'This application is yours. If you authorize it, it can also open the webhook portal for {application}.',
            { application },
          ),
        ]
      : []),
    ...endOf(language, expiryDays),
    t(
      'Either way, your browser then goes to {host}. If you cancel, nothing new is shared. If you authorize, you can disconnect the application at any time.',
      { host: redirectHost },
    ),
  ]);
}

/** The words of the same page in a sandbox, where the visitor answers for a driver. Partners see it, in English. */
export const sandboxPageText = (subject: Omit<PageSubject, 'isOwned' | 'language'>): ConsentWords =>
  wordsOf({ ...subject, language: 'en' }, `Let ${subject.application} read a driver’s charging data?`, [
    ...endOf('en', subject.expiryDays),
    `If you authorize or cancel, your browser then goes to ${subject.redirectHost}.`,
  ]);

/** The words of the account page on which a user changes or renews a consent. */
export function choicePageText(subject: Omit<PageSubject, 'redirectHost' | 'isOwned'>): ConsentWords {
  const { language, application, expiryDays } = subject;
  return wordsOf(subject, text(language, 'What {application} may read', { application }), [
    ...endOf(language, expiryDays),
    text(language, 'You can disconnect the application at any time.'),
  ]);
}

const wordsOf = (
  {
    language,
    application,
    organisation,
    access,
    purposes,
  }: Omit<PageSubject, 'redirectHost' | 'isOwned' | 'expiryDays'>,
  heading: string,
  notes: string[],
): ConsentWords => ({ language, application, organisation, heading, access, purposes, notes });

const endOf = (language: Language, days: PageSubject['expiryDays']): string[] => {
  if (days === null) return [];
  if (days === 'as before') {
    return [
      text(
        language,
        'What you agree to ends together with what you agreed to before. We remind you before it ends.',
      ),
    ];
  }
  return [
    text(
      language,
      'What you agree to holds for {days, plural, one {one day} other {# days}}, unless you renew it. We remind you before it ends.',
      { days },
    ),
  ];
};
