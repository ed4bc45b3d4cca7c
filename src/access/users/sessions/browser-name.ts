import type { Language } from '#platform/language/languages.js';
import { text } from '#platform/language/text.js';

// In this order, because most browsers also claim to be those listed below them.
const BROWSERS: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera|OPT)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|Chromium|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.* Safari\//, 'Safari'],
];
const SYSTEMS: [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
];

const nameIn = (table: [RegExp, string][], text: string): string | undefined =>
  table.find(([pattern]) => pattern.test(text))?.[1];

/** A readable name of a browser, for example "Firefox on Linux". The header may contain anything, so none of it is shown. */
export function browserNameOf(userAgent: string | null, language: Language = 'en'): string {
  const browser = nameIn(BROWSERS, userAgent ?? '');
  const system = nameIn(SYSTEMS, userAgent ?? '');
  if (browser && system) return text(language, '{browser} on {system}', { browser, system });
  if (system) return text(language, 'A browser on {system}', { system });
  return browser ?? text(language, 'An unknown browser');
}
