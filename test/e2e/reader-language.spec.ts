import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MESSAGES, type Message } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { BrowserSession, madeForEach, madeOnce, PASSWORD, REDIRECT_URI } from '../support/spec.js';
import type { ReceivedMail } from '../support/mail-server.js';
import { useSharedServiceWithMail } from '../support/set-up.js';

describe('The language of a person', () => {
  const { service, smtp } = useSharedServiceWithMail();

  const user = madeForEach(() => service.make.user({ emailVerified: true }));
  const admin = madeOnce(async () => ({ token: await service.make.adminToken() }));

  const languageIn = (of: Pick<UserEntity, 'id'> = user) =>
    service.database.value<string | null>('SELECT language FROM users WHERE id = $1', [of.id]);
  const browserFor = (language: string) => new BrowserSession(service.url, { 'accept-language': language });
  const loggedIn = async (language: string, of = user): Promise<BrowserSession> => {
    const browser = browserFor(language);
    await browser.logIn(of.email, PASSWORD);
    return browser;
  };
  const langOf = async (browser: BrowserSession, path: string): Promise<string | undefined> =>
    (await browser.open(path)).html.querySelector('html')!.getAttribute('lang');
  const patch = (json: object) =>
    service.http.send(`/admin/users/${user.id}`, { method: 'PATCH', bearer: admin.token, json });
  const mailOf = async (subject: string, address = user.email): Promise<ReceivedMail> => {
    for (let n = 1; ; n++) {
      const mail = await smtp.mailTo(address, n);
      if (mail.subject === subject) return mail;
    }
  };
  const raise = (message: Message, clientId: string | null = null): Promise<void> =>
    service.app
      .get(Transactions)
      .run(() => service.app.get(NotificationsService).raise(user.id, clientId, message));

  describe('of an account', () => {
    it('is refused by the admin API if there is no such language', async () => {
      for (const language of ['pt', 'DE', '', 5]) {
        const refused = await patch({ language });
        expect([refused.status, refused.json.field_errors]).toEqual([
          400,
          { language: ['must be one of: en, de, fr, nl, es'] },
        ]);
      }
      expect(await languageIn()).toBeNull();
    });

    it('is set and taken away by the admin API, with an entry in the audit log', async () => {
      expect((await patch({ language: 'nl' })).json.language).toBe('nl');
      expect((await patch({ language: null })).json.language).toBeNull();
      const after = await service.database.query(
        `SELECT before, after FROM audit_events WHERE subject_id = $1 AND action = 'user.updated'`,
        [user.id],
      );
      expect(after).toContainEqual({ before: { language: 'nl' }, after: { language: null } });
    });

    it('is set in the console, and not by what is not offered', async () => {
      const browser = await service.make.signedIn(await service.make.user({ role: 'operator' }));
      const path = `/admin/console/users/${user.id}`;
      expect((await browser.fillIn(`${path}/edit`, { language: 'xx' })).status).toBe(400);
      expect((await browser.fillIn(`${path}/edit`, { language: 'es' })).status).toBe(303);
      expect((await browser.open(path)).text).toContain('Spanish');
      expect(await languageIn()).toBe('es');
    });

    it('is not what the browser prefers', async () => {
      const browser = await loggedIn('fr');
      expect([await langOf(browser, '/account'), await languageIn()]).toEqual(['fr', null]);
    });

    it('is what a link at the bottom of a page asks for, from then on in every browser, and not what a client asks for', async () => {
      const chooser = await loggedIn('fr');
      await chooser.open('/account?ui_locales=de');
      expect(await languageIn()).toBe('de');
      await chooser.open('/o/authorize?ui_locales=es');
      expect(await languageIn()).toBe('de');
      expect(await langOf(await loggedIn('fr'), '/account')).toBe('de');
    });

    it('is what was chosen before the login, unless the account has one', async () => {
      const browser = await loggedIn('en');
      browser.cookies.set('cds_language', 'es');
      await browser.open('/account');
      expect(await languageIn()).toBe('es');
      browser.cookies.set('cds_language', 'nl');
      expect([await langOf(browser, '/account'), await languageIn()]).toEqual(['nl', 'es']);
    });

    it('is that in which it was created', async () => {
      const email = 'new.driver@mail.example';
      await browserFor('fr').fillIn('/sign-up', { email });
      const mail = await mailOf('Créez votre compte', email);
      expect(mail.html).toContain('<html lang="fr">');
      expect(mail.text).toContain('Si vous n’avez rien demandé, ignorez cet e-mail\u202f: sans le lien');
      const password = 'a long enough password';
      const fields = { name: 'Dana', password, password_again: password };
      expect((await browserFor('de').fillIn(new URL(mail.link).pathname, fields)).status).toBe(200);
      const language = await service.database.value('SELECT language FROM users WHERE email = $1', [email]);
      expect(language).toBe('de');
    });
  });

  describe('is that of mail:', () => {
    it('the language of the account, whatever the request prefers', async () => {
      await patch({ language: 'es' });
      await browserFor('fr').fillIn('/password/forgotten', { email: user.email });
      const mail = await mailOf('Establecer una nueva contraseña');
      expect(mail.html).toContain('<html lang="es">');
      expect(mail.html).toContain('Si el botón no funciona, copie esta dirección en su navegador:');
    });

    it('that of the request of a person whose account has none', async () => {
      await loggedIn('nl');
      const mail = await mailOf('Nieuwe login op uw account');
      expect(mail.text).toContain('(IP-adres 127.0.0.1)');
      expect(mail.text).toContain('U ontvangt altijd e-mail over de beveiliging van uw account.');
    });

    it('English if somebody else has caused it', async () => {
      const browser = await loggedIn('de', await service.make.user({ role: 'operator' }));
      await browser.fillIn(`/admin/console/users/${user.id}/edit`, { email: `moved.${user.email}` });
      const mail = await mailOf('An operator changed your account');
      expect(mail.text).toContain('An operator changed the email address of your account.');
    });

    it('with names as they are, and who is behind an application', async () => {
      await patch({ language: 'de' });
      const client = await service.make.client({ name: 'North {wind} <b>', organisation: 'Wind & Söhne' });
      await (
        await loggedIn('fr')
      ).authorize({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
      const mail = await mailOf('Sie haben eine Anwendung mit Ihrem Konto verbunden');
      expect(mail.text).toContain('Sie haben zugestimmt, Daten mit „North {wind} <b>“ zu teilen.');
      expect(mail.text).toContain('„North {wind} <b>“ ist von Wind & Söhne.');
    });
  });

  describe('is that of notifications', () => {
    const on = new Date('2027-02-28T12:00:00Z');

    it('on the account page; what an operator wrote is in no known language', async () => {
      await raise(MESSAGES.consentExpiring('Northwind', {}, on));
      const written = {
        userId: user.id,
        messageId: 'ERR9',
        category: 'SERVICE',
        shortTextTitle: 'Hallo',
        shortTextBody: 'Welt',
      } as const;
      await service.app.get(NotificationsService).raiseByOperator(written, SERVICE_ACTOR);
      const { html } = await (await loggedIn('fr')).open('/account/notifications');
      const shown = html.querySelectorAll('.opening h2, .opening p:not(.entry-meta)');
      expect(shown.map((each) => [each.getAttribute('lang'), each.text])).toEqual(
        expect.arrayContaining([
          ['fr', 'Une application va bientôt perdre son accès'],
          [
            'fr',
            'Ce que vous avez accepté de partager avec «\u202fNorthwind\u202f» prend fin le 28 février 2027.',
          ],
          ['', 'Hallo'],
          ['', 'Welt'],
        ]),
      );
    });

    it('for programs that ask for one; for all others they stay as they were', async () => {
      const client = await service.make.client();
      const { access_token: bearer } = await service.make.tokens(client, user);
      await raise(MESSAGES.consentExpiring('Northwind', {}, on), client.id);
      const get = async (headers: Record<string, string>) => {
        const { json, headers: answered } = await service.http.get('/notifications', { bearer, headers });
        return [json[0].short_text_body, answered.get('content-language'), answered.get('vary')];
      };
      const english = 'What you agreed to share with “Northwind” ends on 28 February 2027.';
      expect(await get({ 'accept-language': 'de-AT, en;q=0.5' })).toEqual([
        'Was Sie mit „Northwind“ teilen, endet am 28. Februar 2027.',
        'de, en',
        'accept-language',
      ]);
      expect(await get({ 'accept-language': 'pt' })).toEqual([english, 'en', 'accept-language']);
      expect((await get({}))[0]).toBe(english);
    });

    it('which earlier releases stored as text', async () => {
      await raise(MESSAGES.passwordChanged());
      await service.database.query('UPDATE notifications SET messages = NULL WHERE user_id = $1', [user.id]);
      const { html } = await (await loggedIn('de')).open('/account/notifications');
      expect(html.querySelector('.opening h2[lang=""]')!.text).toBe('Your password was changed');
    });
  });

  describe('is that of problems', () => {
    it.each([
      ['GET', '/v2/nowhere', 404, 'Nicht gefunden', 'Unter dieser Adresse gibt es nichts.', 'de'],
      ['DELETE', '/login', 405, 'Methode nicht erlaubt', undefined, 'de'],
      ['GET', '/v2/users', 401, 'Nicht angemeldet', 'Es wurden keine Zugangsdaten gesendet.', 'de'],
    ])('for programs that ask for one: %s %s', async (method, path, status, title, detail, language) => {
      const headers = { 'accept-language': 'de' };
      const answer = await service.http.send(path, { method, headers });
      expect([answer.status, answer.json.title]).toEqual([status, title]);
      if (detail !== undefined) expect(answer.json.detail).toBe(detail);
      expect([answer.headers.get('content-language'), answer.headers.get('vary')]).toEqual([
        language,
        'accept-language',
      ]);
    });

    it('for programs, with what is about members in English, which the answer says', async () => {
      const headers = { 'accept-language': 'de' };
      const path = `/admin/users/${user.id}`;
      const json = { language: 'xx' };
      const answer = await service.http.send(path, { method: 'PATCH', bearer: admin.token, headers, json });
      expect(answer.json).toMatchObject({
        title: 'Prüfung fehlgeschlagen',
        field_errors: { language: ['must be one of: en, de, fr, nl, es'] },
      });
      expect(answer.headers.get('content-language')).toBe('de, en');
    });

    it('never of the errors of OAuth, whose descriptions are ASCII', async () => {
      const headers = { 'accept-language': 'de' };
      const answer = await service.http.send('/o/token', { headers, form: { grant_type: 'password' } });
      expect(answer.json.error_description).toMatch(/^[\x20-\x7e]+$/);
      expect(answer.headers.get('content-language')).toBeNull();
    });

    it.each([
      ['a method', 'DELETE', '/account', undefined, 405, 'Diese Adresse unterstützt DELETE nicht'],
      ['a media type', 'POST', '/login', 'text/plain', 415, 'Diese Adresse nimmt'],
      ['a query', 'GET', '/login?a=%ff', undefined, 400, 'Die Parameter sind kein gültiges UTF-8'],
      ['a form without its token', 'POST', '/email/verify/x', 'form', 403, 'Dieses Formular ist abgelaufen'],
      ['a list', 'GET', '/account?page_size=x', undefined, 400, 'Einige Angaben der Anfrage sind ungültig.'],
    ])(
      'on the pages for drivers, as a whole, that refuse %s',
      async (_what, method, path, type, status, text) => {
        const { cookies } = await loggedIn('de');
        const cookie = [...cookies].map((each) => each.join('=')).join('; ');
        const headers = {
          accept: 'text/html',
          'accept-language': 'de',
          cookie,
          ...(type === undefined
            ? {}
            : { 'content-type': type === 'form' ? 'application/x-www-form-urlencoded' : type }),
        };
        const body = type === undefined ? undefined : 'email=x';
        const page = await service.http.send(path, { method, headers, body });
        expect([page.status, /<html lang="(\w+)"/.exec(page.text)?.[1]]).toEqual([status, 'de']);
        expect(page.text).toContain(text);
        expect(page.text).not.toMatch(/\b(the|this|Go to)\b/);
      },
    );
  });
});
