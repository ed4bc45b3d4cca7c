import { createContext, type ComponentChildren, type VNode } from 'preact';
import { useContext } from 'preact/hooks';
import type { Language } from '#platform/language/languages.js';
import { UTC } from '#platform/language/time-zones.js';
import { compiledMessage, shownText, text, type Said, type TextValues } from '#platform/language/text.js';

/** The language of the page. */
export const LanguageContext = createContext<Language>('en');

/** In which the page shows times. */
export const TimeZoneContext = createContext<string>(UTC);

/** Gives messages in the language of the page. */
export function useText(): (english: string, values?: TextValues) => string {
  const language = useContext(LanguageContext);
  return (english, values) => text(language, english, values);
}

/** Gives texts from elsewhere in the language of the page if they are messages, and as they are if not. */
export function useShown(): (shown: string | Said) => string {
  const language = useContext(LanguageContext);
  return (shown) => shownText(language, shown);
}

/** What stands in a message: values, and elements around a part of it, by the name of its tag. */
type SayValues = Record<
  string,
  string | number | Date | VNode | ((children: ComponentChildren[]) => ComponentChildren)
>;

/** A message, written in English and ICU's syntax, in the language of the page. */
export function Say({ it, with: values }: { it: string; with?: SayValues }): VNode {
  const language = useContext(LanguageContext);
  const parts = compiledMessage(language, it).format<ComponentChildren>(values as never);
  return <>{parts}</>;
}
