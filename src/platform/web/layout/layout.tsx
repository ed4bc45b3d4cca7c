import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { renderToString } from 'preact-render-to-string';
import { FormTokens, PostButton, type TokenFor } from '../forms/form.js';
import { LANGUAGE_NAMES, LANGUAGES, RIGHT_TO_LEFT, type Language } from '#platform/language/languages.js';
import { UTC } from '#platform/language/time-zones.js';
import { say, type Said, text } from '#platform/language/text.js';
import { logoPath, mailtoOf, stylesOf, type Brand } from './brand.js';
import { FoldedGroups } from './navigation.js';
import { ACTIONS } from './page-head.js';
import { LanguageContext, TimeZoneContext, useShown, useText } from './say.js';

/** What the scripts say on their own, or show from the answers to their requests. */
const WORDS: Record<string, readonly string[]> = {
  '/assets/page.js': [say('Copy'), say('Copied'), say('Download')],
  '/assets/passkeys.js': [
    say('No passkey was used: the request was cancelled, or it took too long. Try again.'),
    say('This device already has a passkey for your account.'),
    say('Passkeys do not work at this address.'),
    say('That did not work. Try again later.'),
  ],
};

/** The words of these scripts for a page in another language than theirs, by the English ones, as JSON; undefined if there are none. */
function wordsOfScripts(scripts: readonly string[], language: Language): string | undefined {
  const words = scripts.flatMap((script) => WORDS[script] ?? []);
  if (language === 'en' || words.length === 0) return undefined;
  return JSON.stringify(Object.fromEntries(words.map((english) => [english, text(language, english)])));
}

/** Who reads the page: the language, the time zone, and the address of the page, with which it can be had in another language; answers to forms have none. */
export interface Reader {
  language: Language;
  timeZone?: string;
  /** UTC was chosen: scripts leave times as they are. */
  choseUtc?: boolean;
  url?: string;
  /** The groups of the side bar that are folded up, by their first parts. */
  folded?: readonly string[];
}

export interface LayoutProps {
  title: string | Said;
  children: ComponentChildren;
  /** What it is about, for search engines; without it, what all pages of its kind are about. */
  description?: string | Said;
  /** Whether the page has actions, to which a link skips. */
  hasActions?: boolean;
  /** What stands beside the page, above it where there is no room. */
  side?: ComponentChildren;
  /**
   * `narrow` for forms and decisions (the default), `wide` for pages to read, `broad` for pages to work in, `full` for pages with
   * tables.
   */
  width?: 'narrow' | 'wide' | 'broad' | 'full';
  /** Further style sheets of this service. */
  styles?: readonly string[];
  /** Scripts of this service that enhance the page. */
  scripts?: string[];
  /** Seconds after which the page reloads itself, while something is in progress; with a script, the script does that. */
  refreshAfter?: number;
  /** The URL that the browser is redirected to at once. */
  goesOnTo?: string;
  /** The text of the page footer, after the name of the service. */
  footer?: string;
  /** Another brand than that of the service: a preview. */
  brand?: Brand;
  /** All of its words are messages that are translated; other pages are in English whatever the reader prefers. */
  isTranslated?: boolean;
  /** It cannot be opened again, so nothing leads away from it that is not needed: not the links to other languages. */
  showsOnce?: boolean;
  reader?: Reader;
}

/** The document around every page: head, skip link, brand, one card, footer. Every page works without scripts. */
function Layout({
  title,
  children,
  description,
  hasActions,
  side,
  width = 'narrow',
  styles = [],
  scripts = [],
  refreshAfter,
  goesOnTo,
  footer = say('for drivers and the apps they choose'),
  brand,
  isTranslated,
  showsOnce,
  reader,
}: LayoutProps & { brand: Brand }): VNode {
  const t = useText();
  const shown = useShown();
  const language = useContext(LanguageContext);
  return (
    <html lang={language} dir={RIGHT_TO_LEFT.has(language) ? 'rtl' : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#f1f6f4" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#0a1412" media="(prefers-color-scheme: dark)" />
        {refreshAfter !== undefined && (
          <noscript>
            <meta http-equiv="refresh" content={String(refreshAfter)} />
          </noscript>
        )}
        {goesOnTo !== undefined && <meta http-equiv="refresh" content={`0; url=${goesOnTo}`} />}
        <meta
          name="description"
          content={description === undefined ? `${brand.name} – ${shown(footer)}` : shown(description)}
        />
        <title>{`${shown(title)} · ${brand.name}`}</title>
        <link rel="stylesheet" href="/assets/pico.min.css" />
        <link rel="stylesheet" href="/assets/app.css" />
        {[...stylesOf(brand), ...styles].map((style) => (
          <link rel="stylesheet" href={style} />
        ))}
        {scripts.map((script) => (
          <script src={script} defer />
        ))}
        <link rel="icon" href="/assets/favicon.svg" type="image/svg+xml" />
      </head>
      <body class={`page page-${width}${side ? ' page-framed' : ''}`}>
        <a class="skip-link" href="#main">
          {t('Skip to content')}
        </a>
        {hasActions && (
          <a class="skip-link" href={`#${ACTIONS}`}>
            Skip to actions
          </a>
        )}
        <header class="page-header">
          {brand.logoId === null ? (
            <BrandMark />
          ) : (
            <img class="brand-logo" src={logoPath(brand.logoId)} alt="" height="40" />
          )}
          <bdi class="brand-name">{brand.name}</bdi>
        </header>
        {side && <div class="side">{side}</div>}
        <main
          class="page-main"
          id="main"
          tabIndex={-1}
          data-refresh={scripts.length > 0 ? refreshAfter : undefined}
          data-words={wordsOfScripts(scripts, language)}
          data-times={reader?.choseUtc ? 'exact' : undefined}
        >
          <div class="card">{children}</div>
        </main>
        <Footer brand={brand} text={footer} reader={isTranslated && !showsOnce ? reader : undefined} />
      </body>
    </html>
  );
}

/** The name of the service and what the page is part of, and what the company says on each page. */
function Footer({ brand, text, reader }: { brand: Brand; text: string; reader?: Reader }): VNode {
  const t = useText();
  const shown = useShown();
  const { name, footer, supportEmail, privacyUrl, termsUrl } = brand;
  const links = [
    {
      href: supportEmail === null ? null : mailtoOf(supportEmail),
      label: t('Support: {address}', { address: supportEmail ?? '' }),
    },
    { href: privacyUrl, label: t('Privacy') },
    { href: termsUrl, label: t('Terms') },
  ].filter(({ href }) => href !== null);
  return (
    <footer class="page-footer">
      <p>{`${name} – ${shown(text)}`}</p>
      {footer !== null && (
        <p>
          <bdi>{footer}</bdi>
        </p>
      )}
      {links.length > 0 && (
        <ul class="footer-links" role="list">
          {links.map(({ href, label }) => (
            <li>
              <a href={href!}>{label}</a>
            </li>
          ))}
        </ul>
      )}
      {reader?.url !== undefined && <LanguageLinks language={reader.language} url={reader.url} />}
    </footer>
  );
}

/** The page in the other languages. */
function LanguageLinks({ language, url }: Reader & { url: string }): VNode {
  const t = useText();
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  // Without the path, which may begin like another site, or hold a one-time key.
  const addressIn = (other: Language): string => {
    const parameters = new URLSearchParams(query);
    parameters.set('ui_locales', other);
    return `?${parameters.toString()}`;
  };
  return (
    <nav class="footer-links" aria-label={t('Language')}>
      {LANGUAGES.map((other) =>
        other === language ? (
          <span lang={other} aria-current="true">
            {LANGUAGE_NAMES[other]}
          </span>
        ) : (
          <a href={addressIn(other)} hreflang={other} lang={other}>
            {LANGUAGE_NAMES[other]}
          </a>
        ),
      )}
    </nav>
  );
}

/** The brand mark: a bolt in an open ring, as on a charging station's display. Decorative. */
export function BrandMark(): VNode {
  return (
    <svg
      class="brand-mark"
      viewBox="0 0 40 40"
      width="2.25rem"
      height="2.25rem"
      aria-hidden="true"
      focusable="false"
    >
      <rect class="brand-mark-tile" fill="light-dark(#006b57, #0e4a3d)" width="40" height="40" rx="11" />
      <path
        class="brand-mark-ring"
        d="M27.6 9.8a12.6 12.6 0 1 1-15.2 0"
        fill="none"
        stroke="light-dark(#8ff0d0, #3fdcae)"
        stroke-width="2.6"
        stroke-linecap="round"
      />
      <path fill="light-dark(#ffffff, #effff9)" d="M21.6 8.4 14.2 21.3h5l-1.1 9.5 7.7-12.9h-5.2z" />
    </svg>
  );
}

/** A person or an application as a letter on a tile. Decorative: the name always stands next to it. */
export function InitialTile({ name, kind }: { name: string; kind: 'person' | 'application' }): VNode {
  const initial = /[\p{L}\p{N}]/u.exec(name)?.[0] ?? '•';
  return (
    <span class={`tile tile-${kind}`} aria-hidden="true">
      {initial.toUpperCase()}
    </span>
  );
}

/** Who is logged in: name and email. */
export function SignedInAs({ name, email }: { name: string; email: string }): VNode {
  const t = useText();
  return (
    <div class="identity">
      <InitialTile name={name} kind="person" />
      <p class="identity-text">
        <span class="identity-label">{t('Logged in as')}</span> <bdi class="identity-name">{name}</bdi>{' '}
        <bdi class="identity-email">{email}</bdi>
      </p>
    </div>
  );
}

/** The button that ends the login. */
export function LogoutButton({ look = 'quiet' }: { look?: 'quiet' | 'link-button' }): VNode {
  const t = useText();
  return (
    <PostButton action="/logout" look={look}>
      {t('Log out')}
    </PostButton>
  );
}

/** Renders a page as a complete HTML document in this brand; everything interpolated is escaped. Forms need `tokenFor`. */
export function renderPage(page: LayoutProps, brand: Brand, tokenFor?: TokenFor): string {
  const document = (
    <LanguageContext.Provider value={(page.isTranslated && page.reader?.language) || 'en'}>
      <TimeZoneContext.Provider value={page.reader?.timeZone ?? UTC}>
        <FoldedGroups.Provider value={page.reader?.folded ?? []}>
          <Layout {...page} brand={page.brand ?? brand} />
        </FoldedGroups.Provider>
      </TimeZoneContext.Provider>
    </LanguageContext.Provider>
  );
  const withTokens = tokenFor ? (
    <FormTokens.Provider value={tokenFor}>{document}</FormTokens.Provider>
  ) : (
    document
  );
  return `<!doctype html>${renderToString(withTokens)}`;
}
