import { say } from '#platform/language/text.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import type { OpenAnswer } from './open-pages.js';

/**
 * The answer (410) for a one-time link that is used, expired or unknown. `text` says how long such links work, `action` where to
 * get another; both are messages.
 */
export const linkGone = (text: string, action?: { href: string; label: string }): OpenAnswer => ({
  status: 410,
  page: messagePage({
    title: say('Link no longer works'),
    heading: say('This link no longer works'),
    text,
    ...(action ? { action } : {}),
    isTranslated: true,
  }),
});
