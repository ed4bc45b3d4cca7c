import { createHash } from 'node:crypto';
import { BrandService, LogosService } from '#records/brand/brand.service.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, madeForEach, useServiceWithMail } from '../support/spec.js';
import { withSettings } from '../support/changed-settings.js';
import { MailServer, type ReceivedMail } from '../support/mail-server.js';
import { png } from '../support/uploads.js';

const CONNECTED = MESSAGES.applicationConnected('Example App');
const ACTIONABLE = MESSAGES.refreshTokenReplayed('Example App');
const SECURITY = MESSAGES.passwordChanged();
const ONE_CLICK = 'List-Unsubscribe=One-Click';

describe('The mails of the service', () => {
  const greetings: string[] = [];
  const { service, smtp } = useServiceWithMail(
    { hostname: 'localhost' },
    new MailServer({
      onMailFrom: (_address, session, done) => {
        greetings.push(session.hostNameAppearsAs);
        done();
      },
    }),
  );
  const user = madeForEach(() => service.make.user({ emailVerified: true }));

  const raise = (message: typeof CONNECTED, to = user): Promise<void> =>
    service.app
      .get(Transactions)
      .run(() => service.app.get(NotificationsService).raise(to.id, null, message));
  /** The address in `List-Unsubscribe`. */
  const listLinkOf = (mail: ReceivedMail): string | undefined => {
    return (mail.headers.get('list') as { unsubscribe?: { url: string } } | undefined)?.unsubscribe?.url;
  };
  const pathIn = async (message = CONNECTED): Promise<string> => {
    const before = smtp.to(user.email).length;
    await raise(message);
    return new URL(listLinkOf(await smtp.mailTo(user.email, before + 1))!).pathname;
  };
  const unwanted = async (of = user): Promise<string[]> => {
    const [row] = await service.database.query<{ unwanted_mails: string[] }>(
      'SELECT unwanted_mails FROM users WHERE id = $1',
      [of.id],
    );
    return row!.unwanted_mails;
  };
  const post = (path: string, body = ONE_CLICK, type = 'application/x-www-form-urlencoded') =>
    fetch(service.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': type },
      redirect: 'manual',
    });

  it('greet the SMTP server with the host of the service', async () => {
    await raise(SECURITY);
    await smtp.mailTo(user.email);
    expect(greetings.at(-1)).toBe('localhost');
  });

  it('have no way to unsubscribe if they cannot be switched off', async () => {
    await raise(SECURITY);
    const mail = await smtp.mailTo(user.email);
    expect([listLinkOf(mail), mail.headers.get('list-unsubscribe-post')]).toEqual([undefined, undefined]);
  });

  it('offer one click to mail programs where the service is reached by https', async () => {
    // Whichever instance sends it, the mail is what the one that queued it wrote.
    await withSettings(service, { baseUrl: 'https://charging.example' }, () => raise(CONNECTED));
    const mail = await smtp.mailTo(user.email);
    expect(listLinkOf(mail)).toMatch(/^https:\/\/charging\.example\/email\/unsubscribe\/cds_un_/);
    expect(mail.headers.get('list')).toMatchObject({ 'unsubscribe-post': { name: ONE_CLICK } });
  });

  describe('show logos that are parts of them', () => {
    const setLogo = (logo: Buffer | null) => service.app.get(BrandService).changeLogo(logo, SERVICE_ACTOR);
    const digestOf = (logo: Buffer) => createHash('sha256').update(logo).digest('hex');
    const sent = async (logoId?: string) => {
      await raise(MESSAGES.applicationConnected('Example App', { logoId }));
      return smtp.mailTo(user.email);
    };
    const partsOf = ({ images }: ReceivedMail) =>
      images.map(({ content, ...part }) => ({ ...part, digest: digestOf(content) }));
    const asPart = (logo: Buffer) => ({
      cid: `${digestOf(logo)}@logo`,
      contentType: 'image/png',
      contentDisposition: 'inline',
      related: true,
      digest: digestOf(logo),
    });
    let [ofCompany, ofClient]: Buffer[] = [];

    beforeAll(async () => ([ofCompany, ofClient] = await Promise.all([png(64), png(48, 48, '#aa2200')])));
    beforeEach(() => service.app.get(Transactions).run(() => service.app.get(LogosService).store(ofClient!)));
    afterEach(() => setLogo(null));

    it('that of the company and that of the application', async () => {
      await setLogo(ofCompany!);
      const mail = await sent(digestOf(ofClient!));
      expect(partsOf(mail)).toEqual([ofCompany!, ofClient!].map(asPart));
      expect(mail.html.match(/src="data:image\/png;base64,/g)).toHaveLength(2);
      expect([mail.html, mail.text].join()).not.toMatch(/cid:|logos\//);
    });

    it('one that is both, once', async () => {
      await setLogo(ofClient!);
      const mail = await sent(digestOf(ofClient!));
      expect(partsOf(mail)).toEqual([asPart(ofClient!)]);
      expect(mail.html.match(/src="data:image\/png;base64,/g)).toHaveLength(2);
    });

    it.each([
      ['without any, no image', undefined],
      ['not one that was removed while the mail waited', 'f'.repeat(64)],
    ])('%s', async (_name, logoId) => {
      const mail = await sent(logoId);
      expect([mail.images, mail.html.includes('<img')]).toEqual([[], false]);
    });
  });

  describe('that can be switched off lead to a page', () => {
    it('which changes nothing when it is opened, and says which mails and which address', async () => {
      const browser = new BrowserSession(service.url);
      const page = await browser.open(await pathIn());
      expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(page.headers.get('referrer-policy')).toBe('strict-origin');
      expect(page.html.querySelector('main')!.text).toContain('an application was connected');
      expect(page.html.querySelector('main')!.text).toContain(user.email);
      expect(await unwanted()).toEqual([]);
    });

    it('which switches off this kind only, without a login', async () => {
      const path = await pathIn(ACTIONABLE);
      const browser = new BrowserSession(service.url);
      const done = await browser.submit(await browser.open(path), path);
      expect([done.status, await unwanted()]).toEqual([200, ['actionable']]);
      await raise(ACTIONABLE);
      await raise(CONNECTED);
      const subjects = (await smtp.mailTo(user.email, 2), smtp.to(user.email)).map(({ subject }) => subject);
      expect(subjects).toEqual([ACTIONABLE.shortTextTitle, CONNECTED.shortTextTitle]);
    });

    it('which keeps the mails about new applications, if it is reached from one about an end of a consent', async () => {
      const path = await pathIn(MESSAGES.consentExpired('Example App'));
      expect((await smtp.mailTo(user.email)).text).toContain('you want to know what needs your attention');
      const browser = new BrowserSession(service.url);
      await browser.submit(await browser.open(path), path);
      expect(await unwanted()).toEqual(['actionable']);
    });

    it('whose form is refused from elsewhere', async () => {
      const path = await pathIn();
      expect((await post(path, 'csrf=wrong')).status).toBe(403);
      expect((await post(path, '')).status).toBe(403);
      expect(await unwanted()).toEqual([]);
    });
  });

  describe('that can be switched off take one click of a mail program', () => {
    it.each([
      ['as a form', ONE_CLICK, 'application/x-www-form-urlencoded'],
      [
        'as a form in parts',
        '--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n',
        'multipart/form-data; boundary=b',
      ],
    ])('%s, without a cookie', async (_name, body, type) => {
      const answer = await post(await pathIn(), body, type);
      expect([answer.status, answer.headers.get('set-cookie')]).toEqual([200, null]);
      expect(await unwanted()).toEqual(['application_connected']);
      const [event] = await service.database.query<{ after: unknown; actor_type: string }>(
        "SELECT after, actor_type FROM audit_events WHERE subject_id = $1 AND action = 'user.mails_chosen'",
        [user.id],
      );
      expect(event!.after).toEqual({ unwanted_mails: ['application_connected'] });
    });

    it('again without a further change, and twice at once', async () => {
      const path = await pathIn();
      const answers = await Promise.all([post(path), post(path), post(path)]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await unwanted()).toEqual(['application_connected']);
      const events = await service.database.query(
        "SELECT 1 FROM audit_events WHERE subject_id = $1 AND action = 'user.mails_chosen'",
        [user.id],
      );
      expect(events).toHaveLength(1);
    });

    it('and not a changed key, one of another kind, or one for an earlier address', async () => {
      const path = await pathIn();
      const other = await service.make.user({ emailVerified: true });
      const [claim, mac] = path.split('cds_un_')[1]!.split('.') as [string, string];
      const forged = [
        path.slice(0, -2) + (path.endsWith('AA') ? 'BB' : 'AA'),
        `/email/unsubscribe/cds_un_${Buffer.from(`application_connected ${other.id}`).toString('base64url')}.${mac}`,
        `/email/unsubscribe/cds_un_${Buffer.from(`actionable ${user.id}`).toString('base64url')}.${mac}`,
        `/email/unsubscribe/cds_un_${Buffer.from(`security ${user.id}`).toString('base64url')}.${mac}`,
        `/email/unsubscribe/cds_un_${claim}`,
        '/email/unsubscribe/cds_un_',
        '/email/unsubscribe/garbage',
      ];
      for (const each of forged) expect([each, (await post(each)).status]).toEqual([each, 410]);
      await service.app
        .get(UsersService)
        .update(user.id, { email: `moved-${user.email}`, emailVerified: true }, SERVICE_ACTOR);
      expect((await post(path)).status).toBe(410);
      expect((await new BrowserSession(service.url).open(path)).status).toBe(410);
      expect([await unwanted(), await unwanted(other)]).toEqual([[], []]);
    });

    it('and no other forms in parts', async () => {
      const path = await pathIn();
      const parts = '--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nOne-Click\r\n--b--\r\n';
      expect((await post(path, parts, 'multipart/form-data; boundary=b')).status).toBe(403);
      expect((await post('/login', parts, 'multipart/form-data; boundary=b')).status).toBe(415);
      // Nor one of the largest size that repeats the name, which a single pattern would take seconds to refuse.
      const repeated = `--b\r\n${'name=List-Unsubscribe\r\n'.repeat(2800)}--b--\r\n`;
      expect((await post(path, repeated, 'multipart/form-data; boundary=b')).status).toBe(403);
      expect(await unwanted()).toEqual([]);
    });
  });
});
