import type { Language } from '#platform/language/languages.js';
import { isTranslated, shownText } from '#platform/language/text.js';
import type { Message } from './message-catalogue.js';
import type { StoredMessages } from './notification.entity.js';

const NAMES = ['shortTextTitle', 'shortTextBody', 'detailPageTitle', 'detailPageBody'] as const;
type TextName = (typeof NAMES)[number];

/** The texts of a notification. */
export interface NotificationTexts {
  shortTextTitle: string;
  shortTextBody: string;
  detailPageTitle: string | null;
  detailPageBody: string | null;
}

const eachText = (textOf: (name: TextName) => string | null): NotificationTexts => ({
  // Every message has these two.
  shortTextTitle: textOf('shortTextTitle')!,
  shortTextBody: textOf('shortTextBody')!,
  detailPageTitle: textOf('detailPageTitle'),
  detailPageBody: textOf('detailPageBody'),
});

/** The stored form of a message: its texts in English, and their message keys and values for other languages. */
export const storedTexts = (message: Message): NotificationTexts & { messages: StoredMessages } => ({
  ...eachText((name) => (message[name] === undefined ? null : shownText('en', message[name]))),
  messages: Object.fromEntries(NAMES.map((name) => [name, message[name]])),
});

/**
 * The texts in the language of a reader, and the language that they are in. Texts of operators, and those stored by earlier
 * releases, stay as they are, in an unknown language (''). Texts without a translation (any more) stay in English.
 */
export function textsIn(
  language: Language,
  notification: NotificationTexts & { messages: StoredMessages | null },
): NotificationTexts & { language: Language | '' } {
  const { messages } = notification;
  const isWhole = messages !== null && Object.values(messages).every(isTranslated);
  if (!isWhole || language === 'en') {
    return { ...eachText((name) => notification[name]), language: messages === null ? '' : 'en' };
  }
  return {
    ...eachText((name) => (messages[name] === undefined ? null : shownText(language, messages[name]))),
    language,
  };
}
