import { type HTMLElement, type Node } from 'node-html-parser';
import { AccountModule } from '#entrypoints/account/account.module.js';
import { messageIn } from '#platform/language/catalog.js';
import type { Language } from '#platform/language/languages.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { declaredRoutes } from '../support/console-routes.js';
import { madeForEach, madeOnce, PASSWORD, placeOf, until } from '../support/spec.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { useSharedServiceWithMail } from '../support/set-up.js';

type Foreign = Exclude<Language, 'en'>;

const FOREIGN: Foreign[] = ['de', 'fr', 'nl', 'es'];

/** A page of a list behind its end. */
const EMPTY_LIST = `/account/notifications?page_after=notf${'0'.repeat(26)}`;

const SHOWN_ATTRIBUTES = ['aria-label', 'data-head', 'data-copy', 'alt', 'placeholder'];

/** Every text of the page that stands by itself, and the words of attributes; not what says that it is in English. */
function textsOf(element: HTMLElement): string[] {
  if (element.getAttribute('lang') === 'en') return [];
  const own = (node: Node): string[] =>
    'tagName' in node && node.tagName ? textsOf(node as HTMLElement) : [node.text.trim()];
  const attributes = SHOWN_ATTRIBUTES.map((name) => element.getAttribute(name) ?? '');
  return [...attributes, ...element.childNodes.flatMap(own)].filter((text) => text !== '');
}

/** The messages that a page in another language still says in English. */
function englishOn(page: Page, language: Foreign): string[] {
  return textsOf(page.html).filter((text) => messageIn(language, text) !== text);
}

const langOf = (page: Page) => page.html.querySelector('html')!.getAttribute('lang');
/** What the scripts of the page say. */
const wordsOn = (page: Page): string[] =>
  Object.values(
    JSON.parse(
      page.html.querySelector('main')!.getAttribute('data-words')!.replaceAll('&quot;', '"'),
    ) as Record<string, string>,
  );
const h1Of = (page: Page) => page.html.querySelector('h1')!.text;

describe('The account in the language of its user', () => {
  const { service, smtp } = useSharedServiceWithMail();

  const client = madeOnce(() =>
    service.make.client({ name: 'Northwind <b>{name}</b>', optionalScopes: ['vehicle:read'] }),
  );
  const user = madeForEach(() => service.make.user({ emailVerified: true, name: 'Dana Driver' }));

  const reading = async (language: string, of = user): Promise<BrowserSession> => {
    const browser = new BrowserSession(service.url, { 'accept-language': language });
    await browser.logIn(of.email, PASSWORD);
    return browser;
  };
  /** The path of the link to the user's data. */
  const exportLink = async (browser: BrowserSession): Promise<string> => {
    await browser.fillIn('/account/export');
    const mails = () => smtp.to(user.email).filter(({ link }) => link.includes('/account/export/'));
    await until('the link has arrived', () => mails().length > 0);
    return new URL(mails()[0]!.link).pathname;
  };
  const receiptId = () =>
    service.database.value<string>('SELECT id FROM consent_versions WHERE user_id = $1', [user.id]);
  const passkeyId = () =>
    service.database.value<string>('SELECT id FROM passkeys WHERE user_id = $1', [user.id]);
  const raise = () =>
    service.app.get(NotificationsService).raiseByOperator(
      {
        userId: user.id,
        messageId: 'ERR9',
        category: 'SERVICE',
        shortTextTitle: 'Hallo',
        shortTextBody: 'Welt',
      },
      SERVICE_ACTOR,
    );

  /** An address for each page, by its route. */
  const addresses = async (browser: BrowserSession): Promise<Record<string, string>> => {
    const connected = `/account/applications/${client.id}`;
    const passkey = `/account/security/passkeys/${await passkeyId()}`;
    return {
      '/account': '/account',
      '/account/applications/:client_id': connected,
      '/account/applications/:client_id/access': `${connected}/access`,
      '/account/applications/:client_id/history': `${connected}/history`,
      '/account/confirm': '/account/confirm',
      '/account/delete': '/account/delete',
      '/account/email': '/account/email',
      '/account/export': '/account/export',
      '/account/export/:key': await exportLink(browser),
      '/account/notifications': '/account/notifications',
      '/account/password': '/account/password',
      '/account/receipts': '/account/receipts',
      '/account/receipts/of/:client_id': `/account/receipts/of/${client.id}`,
      '/account/receipts/:id': `/account/receipts/${await receiptId()}`,
      '/account/security': '/account/security',
      '/account/security/app/new': '/account/security/app/new',
      '/account/security/app/remove': '/account/security/app/remove',
      '/account/security/passkeys/new': '/account/security/passkeys/new',
      '/account/security/passkeys/:id': passkey,
      '/account/security/passkeys/:id/remove': `${passkey}/remove`,
      '/account/security/recovery-codes': '/account/security/recovery-codes',
      '/account/sessions': '/account/sessions',
      '/account-deleted': '/account-deleted',
    };
  };

  // That what is said in one of them is said in all of them is in test/unit/catalogs.spec.ts.
  it('is on every page, each here in another one by turns, without a word left in English', async () => {
    await service.make.consent(client, user);
    await service.database.query(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
       VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, 'vehicle:read', 1, 1234)`,
      [user.id, client.id],
    );
    await raise();
    const browser = await reading('en');
    await setUpPasskey(service, browser);
    await setUpApp(service, browser);
    const pages = await addresses(browser);
    const routes = declaredRoutes(AccountModule, '/account')
      .filter(({ method, path }) => method === 'GET' && /^\/account(\/|-|$)/.test(path))
      .map(({ path }) => path)
      // A file, in no language.
      .filter((path) => path !== '/account/receipts/:id/file');
    expect(Object.keys(pages).sort()).toEqual(routes.sort());
    for (const [n, path] of [...Object.values(pages), EMPTY_LIST].entries()) {
      const language = FOREIGN[n % FOREIGN.length]!;
      const page = await browser.open(path, { headers: { 'accept-language': language } });
      const found = [path, page.status, langOf(page), englishOn(page, language)];
      expect(found).toEqual([path, 200, language, []]);
    }
  });

  it('keeps names as they are, also where they look like the syntax of messages', async () => {
    await service.make.consent(client, user);
    const browser = await reading('de');
    const page = await browser.open(`/account/applications/${client.id}`);
    expect(page.html.querySelector('.lead')!.innerHTML).toBe(
      'Ihre Ladedaten nicht mehr mit <bdi class="name">Northwind &lt;b>{name}&lt;/b></bdi> teilen?',
    );
  });

  it.each([
    ['en', 'Application disconnected.'],
    ['de', 'Anwendung getrennt.'],
    ['fr', 'Application déconnectée.'],
  ])('is that of the notice after a form: %s', async (language, notice) => {
    await service.make.consent(client, user);
    const browser = await reading(language);
    expect(placeOf(await browser.fillIn(`/account/applications/${client.id}`))).toEqual([303, '/account']);
    const page = await browser.open('/account');
    expect([langOf(page), page.html.querySelector('[role="status"]')!.text]).toEqual([language, notice]);
  });

  it.each([
    [
      'de',
      'Ihr Passwort wurde nicht geändert. Siehe die Fehler unten.',
      ['Das neue Passwort muss 12 bis 256 Zeichen haben.'],
    ],
    [
      'fr',
      'Votre mot de passe n’a pas été modifié. Voir les erreurs ci-dessous.',
      ['Le nouveau mot de passe doit compter de 12 à 256 caractères.'],
    ],
  ])('is that of a form that is refused: %s', async (language, alert, errors) => {
    const browser = await reading(language);
    const fields = { current_password: PASSWORD, password: 'short', password_again: 'short' };
    const page = await browser.fillIn('/account/password', fields);
    expect([page.status, langOf(page)]).toEqual([400, language]);
    expect(page.html.querySelector('[role="alert"]')!.text).toBe(alert);
    expect(page.html.querySelectorAll('.field-error').map(({ text }) => text)).toEqual(errors);
    const wrong = await browser.fillIn('/account/delete', { email: 'someone@else.example' });
    expect([wrong.status, englishOn(wrong, language as Foreign)]).toEqual([400, []]);
  });

  it.each([
    ['en', '29 February 2024 at 10:00 UTC', 'Firefox on Linux'],
    ['de', '29. Februar 2024 um 10:00 UTC', 'Firefox auf Linux'],
    ['fr', '29 février 2024 à 10:00 UTC', 'Firefox sur Linux'],
    ['nl', '29 februari 2024 om 10:00 UTC', 'Firefox op Linux'],
    ['es', '29 de febrero de 2024, 10:00 UTC', 'Firefox en Linux'],
  ])('is that of dates and of names of browsers: %s', async (language, date, name) => {
    const browser = await reading(language);
    await service.database.query(
      `UPDATE sessions SET created_at = '2024-02-29T10:00Z', user_agent = 'Mozilla (X11; Linux) Firefox/140.0'
        WHERE user_id = $1`,
      [user.id],
    );
    const page = await browser.open('/account/sessions');
    expect(page.html.querySelector('.opening h2')!.text).toBe(name);
    // Versions of the language data differ in what stands before the time.
    expect(page.html.querySelector('.opening dd time')!.text.replace(' a las', ',')).toBe(date);
    expect(page.html.querySelector('.opening dd time')!.getAttribute('datetime')).toBe(
      '2024-02-29T10:00:00.000Z',
    );
  });

  it('is that of counts, of the chart and of what was read', async () => {
    await service.make.consent(client, user);
    await service.database.query(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
       VALUES ($1, $2, (now() AT TIME ZONE 'UTC')::date, 'vehicle:read', 2, 1234)`,
      [user.id, client.id],
    );
    const page = await (await reading('de')).open(`/account/applications/${client.id}/history`);
    expect(page.html.querySelector('.section-head p')!.text).toBe('zweimal abgefragt, 1.234-mal gesendet');
    expect(page.text).toContain('2 abgefragt, 1.234 gesendet');
  });

  it('is asked for by a link of the page, and stays', async () => {
    const browser = await reading('de');
    const page = await browser.open('/account/email');
    expect(h1Of(page)).toBe('E-Mail');
    const link = page.html.querySelector('a[hreflang="es"]')!.getAttribute('href')!;
    expect(link).toBe('?ui_locales=es');
    expect([
      h1Of(await browser.open(`/account/email${link}`)),
      h1Of(await browser.open('/account/security')),
    ]).toEqual(['Correo electrónico', 'Seguridad']);
  });

  it('is asked for by the address of every list, too', async () => {
    const browser = await reading('de');
    for (const path of ['/account', '/account/notifications', '/account/sessions', '/account/receipts']) {
      const page = await browser.open(`${path}?ui_locales=es`);
      expect([path, page.status, langOf(page)]).toEqual([path, 200, 'es']);
    }
  });

  it('is English where another is asked for, and where none is', async () => {
    for (const language of ['pt', '', '*', 'x'.repeat(300)]) {
      const page = await (await reading(language)).open('/account');
      expect([language, langOf(page), h1Of(page)]).toEqual([language, 'en', 'Connected applications']);
    }
  });

  it('has what our script shows, too', async () => {
    const browser = await reading('fr');
    const page = await browser.open('/account/security/passkeys/new');
    expect(wordsOn(page)).toContain('Cet appareil a déjà une clé d’accès pour votre compte.');
    await setUpApp(service, browser);
    const path = '/account/security/recovery-codes';
    expect(placeOf(await browser.fillIn(path))).toEqual([303, path]);
    const codes = await browser.open(path);
    expect(codes.html.querySelector('.recovery-codes')!.getAttribute('data-copy')).toBe('Tout copier');
    expect(wordsOn(codes)).toEqual(expect.arrayContaining(['Copié', 'Télécharger']));
    // What is shown once would be lost behind a link to another language.
    expect(codes.html.querySelectorAll('a[hreflang]')).toEqual([]);
    expect((await browser.open(path)).html.querySelectorAll('a[hreflang]')).toHaveLength(4);
  });
});
