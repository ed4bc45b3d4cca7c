import type { HTMLElement } from 'node-html-parser';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '#platform/language/languages.js';
import { UnsubscribeKeys, type Unsubscription } from '#records/mail/unsubscribe-keys.service.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import { insertContact } from '../support/contacts.js';
import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, leadsTo, type Page, PASSWORD } from '../support/spec.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { newAddress } from '../support/rate-limits.js';
import { givePassword } from '../support/second-factors.js';
import { useServiceWithProvider, useSharedServiceWithMail } from '../support/set-up.js';

const WORDS: Record<Language, { heading: string; password: string; wrong: string }> = {
  en: {
    heading: 'Log in',
    password: 'Password',
    wrong: 'The email or password is incorrect. Check both and try again.',
  },
  de: {
    heading: 'Anmelden',
    password: 'Passwort',
    wrong: 'E-Mail-Adresse oder Passwort ist falsch. Prüfen Sie beides, und versuchen Sie es noch einmal.',
  },
  fr: {
    heading: 'Se connecter',
    password: 'Mot de passe',
    wrong: 'L’adresse e-mail ou le mot de passe est incorrect. Vérifiez les deux et réessayez.',
  },
  nl: {
    heading: 'Inloggen',
    password: 'Wachtwoord',
    wrong: 'Het e-mailadres of wachtwoord is onjuist. Controleer beide en probeer het opnieuw.',
  },
  es: {
    heading: 'Iniciar sesión',
    password: 'Contraseña',
    wrong: 'El correo o la contraseña no son correctos. Compruebe ambos e inténtelo de nuevo.',
  },
};
const TRANSLATED = LANGUAGES.filter((language) => language !== 'en');

const langOf = ({ html }: Page): string | undefined => html.querySelector('html')?.getAttribute('lang');
const headingOf = ({ html }: Page): string => html.querySelector('h1')!.text;
const titleOf = ({ html }: Page): string => html.querySelector('title')!.text;

/** The links of the footer to the page in other languages. */
const languageLinks = ({ html }: Page): HTMLElement[] => html.querySelectorAll('.page-footer a[hreflang]');

/** What the page says, piece by piece, without its language links and the name of the service. */
function saidBy({ html }: Page): string[] {
  for (const each of html.querySelectorAll('.page-footer nav, .brand-name, bdi, code, [aria-hidden]'))
    each.remove();
  const labels = html.querySelectorAll('[aria-label]').map((each) => each.getAttribute('aria-label')!);
  return [...html.querySelector('body')!.structuredText.split('\n'), ...labels, titleOf({ html } as Page)]
    .map((line) => line.trim())
    .filter((line) => /\p{L}/u.test(line));
}

describe('The language of a page', () => {
  const { service, smtp } = useSharedServiceWithMail();

  const browserFor = (acceptLanguage?: string): BrowserSession =>
    new BrowserSession(service.url, {
      'x-forwarded-for': newAddress(),
      ...(acceptLanguage === undefined ? {} : { 'accept-language': acceptLanguage }),
    });

  describe('is', () => {
    const shown = async (query: string, cookie?: string, acceptLanguage?: string): Promise<string> => {
      const browser = browserFor(acceptLanguage);
      if (cookie !== undefined) browser.cookies.set('cds_language', cookie);
      return langOf(await browser.open(`/login${query}`))!;
    };

    it.each([
      ['the one that the address asks for', '?ui_locales=de', 'fr', 'nl', 'de'],
      [
        'the first that there is of those that the address asks for',
        '?ui_locales=xx+pt-BR+es+de',
        'fr',
        'nl',
        'es',
      ],
      ['that of a regional kind', '?ui_locales=fr-CA', undefined, 'nl', 'fr'],
      ['written in any case', '?ui_locales=DE-at', undefined, 'nl', 'de'],
      ['the one chosen before, if the address asks for none', '', 'fr', 'nl', 'fr'],
      [
        'the one chosen before, if the address asks for nothing that there is',
        '?ui_locales=xx',
        'fr',
        'nl',
        'fr',
      ],
      ['the one chosen before, if the parameter is empty', '?ui_locales=', 'fr', 'nl', 'fr'],
      ['the one chosen before, if the parameter is only like it', '?xui_locales=de', 'fr', 'nl', 'fr'],
      [
        'the first that the address asks for, if it does so twice',
        '?ui_locales=de&ui_locales=es',
        'fr',
        'nl',
        'de',
      ],
      ['the one that the browser prefers, if none was chosen', '', undefined, 'nl', 'nl'],
      ['the best that there is of those', '', undefined, 'pt;q=0.9, es;q=0.5, de;q=0.7', 'de'],
      ['none that the browser refuses', '', undefined, 'de;q=0, fr;q=0.1', 'fr'],
      ['of a region that the browser names', '', undefined, 'de-CH, en;q=0.5', 'de'],
      ['English without a wish', '', undefined, undefined, 'en'],
      ['English for a wish that cannot be met', '', undefined, 'ja', 'en'],
      ['English for any', '', undefined, '*', 'en'],
      ['English for a header that cannot be read', '', undefined, ';;q=x,,=', 'en'],
      ['as if nothing was chosen, after an unknown cookie', '', 'xx', 'nl', 'nl'],
      ['as if nothing was chosen, after a cookie with something else', '', '__proto__', 'nl', 'nl'],
      [
        'as if nothing was asked for, for a name of all objects',
        '?ui_locales=constructor',
        undefined,
        'nl',
        'nl',
      ],
    ])('%s', async (_name, query, cookie, acceptLanguage, expected) => {
      expect(await shown(query, cookie, acceptLanguage)).toBe(expected);
    });

    it.each([
      '?ui_locales=%ff',
      '?ui_locales=de&x=%zz',
      '?ui_locales=de%00',
      `?ui_locales=de&${'x&'.repeat(200)}`,
    ])('the one that the browser prefers on the page that refuses the query %.40s', async (query) => {
      const browser = browserFor('fr');
      const page = await browser.open(`/login${query}`);
      expect([page.status, langOf(page)]).toEqual([400, 'fr']);
      expect(headingOf(page)).toBe('Ce lien ou ce formulaire ne fonctionne pas');
      expect(browser.cookies.has('cds_language')).toBe(false);
    });

    it('very long, and not there: a page all the same', async () => {
      expect(await shown(`?ui_locales=${'xx+'.repeat(3000)}de`)).toBe('de');
    });
  });

  describe('that the address asks for', () => {
    const cookieOf = async (query: string): Promise<string | undefined> =>
      (await service.http.get(`/login${query}`)).headers
        .getSetCookie()
        .find((cookie) => cookie.startsWith('cds_language='));

    it('is remembered for a year, out of reach of scripts', async () => {
      expect(await cookieOf('?ui_locales=de')).toBe(
        'cds_language=de; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax',
      );
      const browser = browserFor('nl');
      await browser.open('/login?ui_locales=es');
      expect(langOf(await browser.open('/login'))).toBe('es');
      expect(langOf(await browser.open('/nowhere'))).toBe('es');
      await browser.open('/login?ui_locales=en');
      expect(langOf(await browser.open('/login'))).toBe('en');
    });

    it('is not remembered if there is no such language, or none is asked for', async () => {
      for (const query of ['', '?ui_locales=', '?ui_locales=xx', '?ui_locales=de;fr'])
        expect(await cookieOf(query)).toBeUndefined();
    });
  });

  it.each(LANGUAGES)('is that of the whole login page: %s', async (language) => {
    const { heading, password, wrong } = WORDS[language];
    const { email } = await service.make.user();
    const browser = browserFor(language);
    const page = await browser.open('/login');
    expect([langOf(page), headingOf(page)]).toEqual([language, heading]);
    expect(titleOf(page)).toBe(`${heading} · Charging Data Service`);
    expect(page.html.querySelector('label[for="password"]')!.text).toBe(password);
    const refused = await browser.submit(page, '/login', { email, password: 'wrong' });
    expect([refused.status, langOf(refused)]).toEqual([401, language]);
    expect(refused.html.querySelector('[role="alert"]')!.text).toBe(wrong);
    expect((await browser.submit(refused, '/login', { email, password: PASSWORD })).status).toBe(303);
  });

  describe('can be changed by the links in the footer', () => {
    it('which lead to the same page with its other parameters', async () => {
      const browser = browserFor('de');
      const returnTo = '/account/history?page=2&x=a?b+c%26d';
      const path = `/login?return_to=${encodeURIComponent(returnTo)}&ui_locales=xx&ui_locales=yy&empty=`;
      const page = await browser.open(path);
      const links = languageLinks(page);
      expect(links.map((link) => [link.text, link.getAttribute('hreflang')])).toEqual(
        LANGUAGES.filter((each) => each !== 'de').map((each) => [LANGUAGE_NAMES[each], each]),
      );
      expect(page.html.querySelector('.page-footer [aria-current]')!.text).toBe('Deutsch');
      for (const link of links) {
        const url = new URL(link.getAttribute('href')!, new URL(path, service.url));
        expect([url.origin, url.pathname]).toEqual([service.url, '/login']);
        expect([...url.searchParams]).toEqual([
          ['return_to', returnTo],
          ['ui_locales', link.getAttribute('hreflang')],
          ['empty', ''],
        ]);
        const other = await browser.open(`${url.pathname}${url.search}`);
        expect(langOf(other)).toBe(link.getAttribute('hreflang'));
        expect(other.html.querySelector('input[name="return_to"]')!.getAttribute('value')).toBe(returnTo);
      }
    });

    it('which keep a question mark in a parameter', async () => {
      const [link] = languageLinks(await browserFor('de').open('/login?return_to=/a?b=c&d=e'));
      const { searchParams } = new URL(link!.getAttribute('href')!, service.url);
      expect([searchParams.get('return_to'), searchParams.get('d')]).toEqual(['/a?b=c', 'e']);
    });

    it('which are in the languages that they lead to', async () => {
      const page = await browserFor('de').open('/login');
      expect(languageLinks(page).map((link) => link.getAttribute('lang'))).toEqual(
        LANGUAGES.filter((each) => each !== 'de'),
      );
    });

    it('which never lead to another site, whatever the path', async () => {
      const page = await browserFor('de').open(`${service.url}//evil.example/x"><b>?y=1`);
      expect([page.status, langOf(page)]).toEqual([404, 'de']);
      const links = languageLinks(page).map((link) => link.getAttribute('href'));
      expect(links).toHaveLength(4);
      for (const link of links) expect(link).toMatch(/^\?y=1&ui_locales=\w\w$/);
    });

    it('which the answer to a form does not have, because it cannot be asked for again', async () => {
      const browser = browserFor('de');
      const answer = await browser.fillIn('/login', { email: 'nobody@mail.example', password: 'wrong' });
      expect([answer.status, langOf(answer), languageLinks(answer)]).toEqual([401, 'de', []]);
    });
  });

  it('is that of a page that is not compressed if its links echo the address', async () => {
    const encodingOf = async (path: string): Promise<string | null> =>
      (await service.http.get(path, { headers: { 'accept-encoding': 'gzip' } })).headers.get(
        'content-encoding',
      );
    expect(await encodingOf('/')).toBe('gzip');
    expect(await encodingOf('/?x=guess')).toBeNull();
    expect(await encodingOf('/docs/guides?x=guess')).toBe('gzip');
  });

  describe('stays English, without links to others,', () => {
    it.each(['/docs/guides', '/docs/guides/errors', '/v2/problems/not-found/', '/portal/sign-in', '/portal'])(
      'at %s',
      async (path) => {
        const browser = browserFor('de');
        browser.cookies.set('cds_language', 'fr');
        const page = await browser.open(`${path}?ui_locales=de`);
        if (!/html/.test(page.headers.get('content-type') ?? ''))
          return expect(page.status).toBeLessThan(400);
        expect([langOf(page), languageLinks(page)]).toEqual(['en', []]);
      },
    );

    it('in the console', async () => {
      const operator = await service.make.user({ role: 'operator', operatorRole: 'admin' });
      const browser = await service.make.signedIn(operator);
      browser.cookies.set('cds_language', 'de');
      const page = await browser.open('/admin/console/clients');
      expect([page.status, langOf(page), languageLinks(page)]).toEqual([200, 'en', []]);
      expect(page.html.text).toContain('Skip to content');
    });

    it('in problems for programs that ask for no language', async () => {
      const headers = { 'accept-language': '*', cookie: 'cds_language=de' };
      const answer = await service.http.get('/v2/nowhere?ui_locales=de', { headers });
      expect(answer.json).toMatchObject({ title: 'Not found', detail: 'There is nothing at this URL.' });
    });
  });

  describe('is that of all that the page says:', () => {
    const linkTo = async (path: string, email: string): Promise<string> => {
      await browserFor().fillIn(path, { email });
      return new URL((await smtp.mailTo(email)).link).pathname;
    };
    // Neither opening a link nor a mistake uses it up.
    let forgotten: Promise<string> | undefined;
    const forgottenLink = () =>
      (forgotten ??= service.make.user().then(({ email }) => linkTo('/password/forgotten', email)));
    let signUp: Promise<string> | undefined;
    const signUpLink = () => (signUp ??= linkTo('/sign-up', newEmail()));
    let counter = 0;
    const newEmail = (): string => `languages${++counter}@mail.example`;
    const organisation = () => service.make.user({ kind: 'organisation', emailVerified: true });
    const invitationTo = async (email: string): Promise<string> => {
      const { id } = await organisation();
      await service.app.get(InvitationsService).invite(id, email, 'viewer', SERVICE_ACTOR);
      return new URL((await smtp.mailTo(email)).link).pathname;
    };

    const addressLink = async (): Promise<string> => {
      const { id, email } = await service.make.user();
      await service.app.get(EmailVerificationService).mailLink(id);
      return new URL((await smtp.mailTo(email)).link).pathname;
    };
    const stopLink = (kind: Unsubscription['kind'], { id, email }: { id: string; email: string }): string =>
      `/email/unsubscribe/${service.app.get(UnsubscribeKeys).make({ kind, id }, email)}`;
    const contactLink = async (): Promise<string> => {
      const email = newEmail();
      const { id: clientId } = await service.make.client();
      const id = await insertContact(service.database, clientId, email, true);
      return stopLink('client_contact', { id, email });
    };
    const withApp = async (): Promise<UserEntity> => {
      const user = await service.make.user();
      await setUpApp(service, await service.make.signedIn(user));
      return user;
    };

    /** Each leads a new browser to the page. */
    const PAGES: Record<string, (browser: BrowserSession) => Promise<Page>> = {
      'the start page': (browser) => browser.open('/'),
      'the start page of someone who is logged in': async (browser) => {
        const { email } = await service.make.user();
        await browser.logIn(email, PASSWORD);
        return browser.open('/');
      },
      'the login': (browser) => browser.open('/login'),
      'a login refused': (browser) => browser.fillIn('/login', { email: newEmail(), password: 'wrong' }),
      'a second step too late': (browser) => browser.open('/login/second-factor'),
      'a forgotten password': (browser) => browser.open('/password/forgotten'),
      'a forgotten password of no address': (browser) =>
        browser.fillIn('/password/forgotten', { email: 'nobody' }),
      'a mail on its way': (browser) => browser.fillIn('/password/forgotten', { email: newEmail() }),
      'a new password': async (browser) => browser.open(await forgottenLink()),
      'a new password too short': async (browser) =>
        browser.fillIn(await forgottenLink(), { password: 'short', password_again: 'short' }),
      'a new password repeated wrongly': async (browser) =>
        browser.fillIn(await forgottenLink(), { password: PASSWORD, password_again: `${PASSWORD}x` }),
      'a password set': async (browser) => {
        const { email } = await service.make.user();
        const link = await linkTo('/password/forgotten', email);
        return browser.fillIn(link, { password: PASSWORD, password_again: PASSWORD });
      },
      'a link for an account that there is': async (browser) => {
        const { email } = await service.make.user();
        return browser.open(await linkTo('/sign-up', email));
      },
      'a password link that is gone': (browser) => browser.open(`/password/${newSecret('passwordKey')}`),
      'a sign-up': (browser) => browser.open('/sign-up'),
      'a sign-up by mail': async (browser) => browser.open(await signUpLink()),
      'a sign-up without a name': async (browser) =>
        browser.fillIn(await signUpLink(), { name: '', password: 'short', password_again: 'short' }),
      'a sign-up with a hidden character': async (browser) =>
        browser.fillIn(await signUpLink(), { name: 'a\u202eb', password: PASSWORD, password_again: 'x' }),
      'an account created': async (browser) => {
        const link = await linkTo('/sign-up', newEmail());
        return browser.fillIn(link, { name: 'Zoë', password: PASSWORD, password_again: PASSWORD });
      },
      'a sign-up link that is gone': (browser) => browser.open(`/sign-up/${newSecret('signUpKey')}`),
      'an address link that is gone': (browser) => browser.open('/email/verify/x'),
      'a mail link that is gone': (browser) => browser.open('/email/unsubscribe/x'),
      'an address to confirm': async (browser) => browser.open(await addressLink()),
      'an address confirmed': async (browser) => browser.fillIn(await addressLink()),
      'mails about connections to stop': async (browser) =>
        browser.open(stopLink('application_connected', await service.make.user())),
      'mails that need attention to stop': async (browser) =>
        browser.open(stopLink('actionable', await service.make.user())),
      'mails stopped': async (browser) => browser.fillIn(stopLink('actionable', await service.make.user())),
      'a contact to remove': async (browser) => browser.open(await contactLink()),
      'a contact removed': async (browser) => browser.fillIn(await contactLink()),
      'a second factor': async (browser) => {
        await givePassword(browser, await withApp());
        return browser.open('/login/second-factor');
      },
      'a second factor refused': async (browser) => {
        await givePassword(browser, await withApp());
        return browser.fillIn('/login/second-factor', { code: 'wrong' });
      },
      'an invitation that is gone': (browser) => browser.open('/invitations/x'),
      'an invitation without an account': async (browser) => browser.open(await invitationTo(newEmail())),
      'an invitation of someone else': async (browser) => {
        const link = await invitationTo(newEmail());
        const { email } = await service.make.user();
        await browser.logIn(email, PASSWORD);
        return browser.open(link);
      },
      'an invitation to an address that is not confirmed': async (browser) => {
        const { email } = await service.make.user();
        const link = await invitationTo(email);
        await browser.logIn(email, PASSWORD);
        return browser.open(link);
      },
      'an invitation to accept': async (browser) => {
        const { email } = await service.make.user({ emailVerified: true });
        const link = await invitationTo(email);
        await browser.logIn(email, PASSWORD);
        return browser.open(link);
      },
      'a page that is not there': (browser) => browser.open('/nowhere'),
      'a form that has expired': async (browser) => {
        return browser.submit(await browser.open('/login'), '/login', { csrf_token: 'x' });
      },
      'a query that cannot be read': (browser) => browser.open('/login?x=%ff'),
      'a query with too many parameters': (browser) => browser.open(`/login?${'x&'.repeat(200)}`),
      'too many wrong passwords': async (browser) => {
        const { email } = await service.make.user();
        let page = await browser.open('/login');
        for (let n = 0; n < 6; n++) page = await browser.submit(page, '/login', { email, password: 'wrong' });
        expect(page.status).toBe(429);
        return page;
      },
    };
    /** What is the same word in a language as in English. */
    const SAME = new Set(['Name', 'Code', 'Invitation', 'E-mail', 'Privacy']);

    // That what is said in one of them is said in all of them is in test/unit/catalogs.spec.ts.
    const inTurn = Object.keys(PAGES).map((name, n) => ({
      name,
      language: TRANSLATED[n % TRANSLATED.length]!,
    }));
    it.each(inTurn)('$name, here in the language $language', async ({ name, language }) => {
      const open = PAGES[name]!;
      const english = await open(browserFor('en'));
      const all = new Set(saidBy(english));
      const page = await open(browserFor(language));
      expect([page.status, langOf(page)]).toEqual([english.status, language]);
      const said = saidBy(page);
      expect(said.length).toBeGreaterThanOrEqual(4);
      expect(said.filter((each) => all.has(each) && !SAME.has(each.split(' · ')[0]!))).toEqual([]);
    });
  });

  it('is that of the waiting time, in the right number', async () => {
    const browser = browserFor('fr');
    const { email } = await service.make.user();
    let page = await browser.open('/login');
    for (let n = 0; n < 6; n++) page = await browser.submit(page, '/login', { email, password: 'wrong' });
    expect(page.html.querySelector('main')!.text).toMatch(
      /Veuillez réessayer dans \d+ (minutes?|secondes?)\./,
    );
  });

  it('is that of what scripts say, which English pages leave to the scripts', async () => {
    const wordsIn = ({ html }: Page): Record<string, string> | undefined => {
      const words = html.querySelector('main')!.getAttribute('data-words');
      return words === undefined ? undefined : (JSON.parse(words) as Record<string, string>);
    };
    expect(wordsIn(await browserFor('en').open('/login'))).toBeUndefined();
    expect(wordsIn(await browserFor('de').open('/login'))).toMatchObject({
      'Passkeys do not work at this address.': 'Passkeys funktionieren unter dieser Adresse nicht.',
    });
    expect(wordsIn(await browserFor('de').open('/'))).toBeUndefined();
  });
});

describe('The language of a login through a provider', () => {
  const idp = new BrokenIdentityProvider();
  const service = useServiceWithProvider(idp, [
    { id: 'broken', label: 'Broken {Company} <b>', trust_email: true },
  ]);

  const begin = async (browser: BrowserSession): Promise<Page> =>
    browser.submit(await browser.open('/login'), '/login/providers/broken');

  it('is that of the way there, and of the page that refuses, with the name as it is', async () => {
    const browser = new BrowserSession(service.url, { 'accept-language': 'de' });
    const login = await browser.open('/login');
    expect(login.html.querySelector('.providers button')!.text).toBe('Weiter mit Broken {Company} <b>');
    const begun = await begin(browser);
    expect([langOf(begun), headingOf(begun), languageLinks(begun)]).toEqual([
      'de',
      'Weiter zu Broken {Company} <b>',
      [],
    ]);
    expect(titleOf(begun)).toContain('Weiter zu Broken {Company} <b>');
    idp.faults = { claims: { email: undefined, email_verified: undefined } };
    const refused = await browser.open(idp.callbackOf(leadsTo(begun)!));
    expect([refused.status, langOf(refused), headingOf(refused)]).toEqual([
      403,
      'de',
      'Ihre E-Mail-Adresse wird gebraucht',
    ]);
    expect(refused.html.text).toContain('erlauben Sie Broken {Company} <b>, Ihre Adresse weiterzugeben');
    expect(refused.html.text).toContain('geben Sie die Anfrage-ID an');
    expect(refused.html.text).not.toContain('You ');
  });
});
