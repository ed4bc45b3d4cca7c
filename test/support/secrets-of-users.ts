import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { MailsService } from '#records/mail/mails.service.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import { BrowserSession, leadsTo, postedAnew } from './browser-session.js';
import { CLIENT_SECRET, PersonBrowser, type IdentityProvider } from './identity-provider.js';
import type { MailServer } from './mail-server.js';
import {
  addApp,
  giveCode,
  givePassword,
  logInWith,
  newBrowserAt,
  openNewPasskey,
  passkeyOptions,
} from './second-factors.js';
import type { Secrets } from './secrets.js';
import { SoftwarePasskey } from './software-passkey.js';
import type { TestService } from './test-service.js';
import { until } from './until.js';

/** Where the secrets of users come from, and where they are noted. */
interface Seen {
  service: TestService;
  smtp: MailServer;
  idp: IdentityProvider;
  secrets: Secrets;
}

async function passwords({ service, secrets }: Seen): Promise<void> {
  const bearer = secrets.add('access token', await service.make.adminToken());
  const password = secrets.add('password', 'a password set through the API');
  const json = { email: 'set@mail.example', name: 'Set', password };
  const { id } = (await service.http.send('/admin/users', { bearer, json })).json as { id: string };
  const another = secrets.add('password', 'another password, set through the API');
  await service.http.send(`/admin/users/${id}`, { method: 'PATCH', bearer, json: { password: another } });
  await service.app
    .get(UsersService)
    .update(id, { password: secrets.add('password', 'and one by the service') }, SERVICE_ACTOR);
  const { url } = (await service.http.send(`/admin/users/${id}/password_links`, { method: 'POST', bearer }))
    .json as { url: string };
  secrets.add('password key', url.split('/').at(-1));
  const browser = new BrowserSession(service.url);
  const { pathname } = new URL(url);
  const page = await browser.open(pathname);
  secrets.csrf(page);
  const last = secrets.add('password', 'the last password, set by its owner');
  expect((await browser.submit(page, pathname, { password: last, password_again: last })).status).toBe(200);
  await browser.logIn('set@mail.example', last);
  secrets.cookies(browser);
  const form = await browser.open('/account/password');
  secrets.csrf(form);
  const own = secrets.add('password', 'the very last, changed on the account page');
  for (const current_password of [own, last]) {
    await browser.submit(form, '/account/password', { current_password, password: own, password_again: own });
  }
  const { cds_account_notice: done, cds_session: session } = Object.fromEntries(browser.cookies);
  expect(done).toBe('password_changed');
  secrets.add('cookie session', session);
  for (const path of ['/account', '/account/notifications', '/account/sessions'])
    secrets.csrf(await browser.open(path));
}

/** The link to one’s data, used twice, and the account that will be deleted. */
async function leaving({ service, smtp, secrets }: Seen): Promise<void> {
  const user = await service.make.user({ emailVerified: true });
  const browser = await service.make.signedIn(user);
  const path = '/account/export';
  expect((await browser.fillIn(path)).status).toBe(303);
  const mails = () => smtp.to(user.email).filter(({ link }) => link.includes(path));
  await until('the link to the data has arrived', () => mails().length > 0);
  const link = new URL(mails()[0]!.link).pathname;
  secrets.add('key to data', link.split('/').at(-1));
  const shown = await browser.open(link);
  secrets.csrf(shown);
  for (const status of [200, 410])
    expect((await browser.submit(shown, link, postedAnew())).status).toBe(status);
  expect((await browser.fillIn('/account/delete', { email: user.email })).status).toBe(303);
}

async function mailedLinks({ service, secrets, smtp }: Seen): Promise<void> {
  const { email, id } = await service.make.user({ email: 'reader@mail.example' });
  await service.app.get(EmailVerificationService).mailLink(id);
  const ask = async (path: string, address: string): Promise<void> => {
    const browser = new BrowserSession(service.url);
    await browser.fillIn(path, { email: address });
  };
  await ask('/password/forgotten', email);
  await ask('/sign-up', 'new-reader@mail.example');
  for (const [address, n] of [
    [email, 1],
    [email, 2],
    ['new-reader@mail.example', 1],
  ] as const) {
    const { pathname } = new URL((await smtp.mailTo(address, n)).link);
    const kind = pathname.startsWith('/password')
      ? 'password key'
      : pathname.startsWith('/sign-up')
        ? 'sign-up key'
        : 'email key';
    secrets.add(kind, pathname.split('/').at(-1)!);
    await new BrowserSession(service.url).open(pathname);
  }
  // A mail that waits holds its link sealed.
  smtp.onRecipient = () => ({ code: 451, text: 'later' });
  await ask('/password/forgotten', email);
  await until('a mail waits', async () => {
    const rows = await service.database.query(
      "SELECT 1 FROM mails WHERE state = 'pending' AND last_error IS NOT NULL",
    );
    return rows.length === 1;
  });
  const [{ id: mail, sealed }] = (await service.database.query<{ id: string; sealed: Buffer }>(
    // Another may have arrived just before, without being marked as sent yet.
    "SELECT id, sealed_content AS sealed FROM mails WHERE state = 'pending' AND last_error IS NOT NULL",
  )) as [{ id: string; sealed: Buffer }];
  const { text } = service.app.get(MailsService).open(mail, sealed)!;
  secrets.add('password key', /cds_pw_\S+/.exec(text)![0]);
}

async function secondFactors({ service, secrets }: Seen): Promise<void> {
  const user = await service.make.user();
  const browser = await service.make.signedIn(user);
  const { options, send } = await openNewPasskey(browser);
  secrets.cookies(browser);
  const passkey = new SoftwarePasskey(service.url);
  await send(passkey.create(options));
  const { secret, codes } = await addApp(browser);
  for (const code of codes) secrets.add('recovery code', code);
  secrets.add('key of an app', secret);
  const other = newBrowserAt(service);
  await givePassword(other, user);
  await passkeyOptions(other);
  secrets.cookies(other);
  await giveCode(other, codes[0]!);
  await logInWith(passkey, newBrowserAt(service));
}

/** A login through an identity provider, one that is cancelled, and one that is only started. */
async function providerSignIns({ service, secrets, idp }: Seen): Promise<void> {
  idp.people.set('ada', { email: 'ada@mail.example', email_verified: true });
  secrets.add('secret at a provider', CLIENT_SECRET);
  for (const sub of ['ada', '', undefined]) {
    const browser = new PersonBrowser(service.url, idp.url);
    const login = await browser.service.open('/login');
    secrets.csrf(login);
    const begun = await browser.service.submit(login, '/login/providers/company');
    secrets.add('cookie sign_in', browser.service.cookies.get('cds_sign_in'));
    const { searchParams: sent } = new URL(leadsTo(begun)!);
    secrets.add('state of a sign-in', sent.get('state'));
    secrets.add('nonce of a sign-in', sent.get('nonce'));
    if (sub === undefined) continue;
    const callback = await browser.answerOf(begun, sub);
    const code = new URL(callback).searchParams.get('code');
    if (sub) secrets.add('code of a provider', code);
    expect((await browser.service.open(callback)).status).toBe(sub ? 303 : 400);
    if (sub) secrets.add('cookie session', browser.service.cookies.get('cds_session'));
    // Its address works once.
    expect((await browser.service.open(callback)).status).toBe(400);
  }
}

/** Everything that people do to log in, in the order of the search for secrets. */
async function memberPortal({ service, smtp, secrets }: Seen): Promise<void> {
  const owner = await service.make.user({ kind: 'organisation', emailVerified: true });
  const client = await service.make.client({ ownerId: owner.id });
  secrets.add('client secret', client.secret);
  const browser = await service.make.signedIn(owner);
  await browser.submit(await browser.open('/portal/sign-in'), `/portal/sign-in/${client.id}`);
  secrets.cookies(browser);
  const members = await browser.open('/portal/members');
  secrets.csrf(members);
  const invited = { email: 'invited@mail.example', role: 'viewer' };
  expect((await browser.submit(members, '/portal/members', invited)).status).toBe(303);
  const link = new URL((await smtp.mailTo(invited.email)).link).pathname;
  secrets.add('invitation key', link.split('/').at(-1));
  expect((await new BrowserSession(service.url).open(link)).status).toBe(200);
  const credentials = await browser.open('/portal/credentials');
  await browser.submit(credentials, '/portal/credentials/rotate', { keep: '0' });
  const shown = (await browser.open('/portal/credentials/secret')).html.querySelector('[data-copy]');
  const secret = secrets.add('client secret', shown?.text);
  await service.http.token({ grant_type: 'client_credentials', scope: 'x' }, { id: client.id, secret });
  await service.app.get(RequestLogService).flush();
  expect((await browser.open('/portal/requests')).text).toContain('invalid_scope');
}

export const STEPS_OF_USERS = [passwords, memberPortal, leaving, mailedLinks, secondFactors, providerSignIns];
