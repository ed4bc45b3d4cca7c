import { ActivityService } from '../../src/activity/activity.service.js';
import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { Listener } from '../../src/database/connections/listener.service.js';
import { UsersService } from '../../src/users/accounts/users.service.js';
import { EmailVerificationService } from '../../src/users/emails/email-verification.service.js';
import { ContactsService } from '../../src/webhooks/contacts/contacts.service.js';
import { BrowserSession } from '../support/browser-session.js';
import { PASSWORD } from '../support/factory.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { addApp, addPasskey, givePassword, newBrowserAt } from '../support/second-factors.js';
import { useServiceWithProvider } from '../support/set-up.js';
import { tablesThatHold } from '../support/tables.js';
import { startInstance } from '../support/test-service.js';
import { until } from '../support/until.js';

/** Part of everything that names the person. */
const TRACE = 'erased-person';
const EMAIL = `${TRACE}@mail.example`;

describe('When a person is erased who used every way to log in,', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, [{ accounts: 'verified_email' }], { env: MAIL_ENV });
  const tablesWith = (text: string) => tablesThatHold(service, text);

  it('no table names the person any more, and only the audit log, changes of access, the record of consents and the events about the erasure keep the id', async () => {
    const ask = async (path: string): Promise<void> => {
      const browser = new BrowserSession(service.url);
      await browser.fillIn(path, { email: EMAIL });
    };
    // Before there is an account.
    await ask('/sign-up');
    const user = await service.make.user({ email: EMAIL, name: `The ${TRACE}` });
    await ask('/sign-up');
    await ask('/password/forgotten');
    await service.app.get(EmailVerificationService).mailLink(user.id);
    idp.people.set(TRACE, { email: EMAIL, email_verified: true });
    const person = new PersonBrowser(service.url, idp.url);
    expect((await person.logIn(TRACE)).status).toBe(303);
    // The first login there ended the password and the links.
    await service.app.get(UsersService).update(user.id, { password: PASSWORD }, SERVICE_ACTOR);
    await ask('/password/forgotten');
    await new PersonBrowser(service.url, idp.url).toCallback(TRACE);
    const client = await service.make.client();
    await service.make.consent(client, user);
    await service.make.tokens(client, user);
    await service.app.get(ContactsService).add(client.id, EMAIL, SERVICE_ACTOR);
    const browser = await service.make.signedIn(user);
    await addPasskey(browser, service.url, { name: TRACE });
    await addApp(browser);
    await givePassword(newBrowserAt(service), user);
    await browser.open('/account', { headers: { 'user-agent': TRACE } });
    const bearer = await service.make.adminToken();
    const json = { name: `Another ${TRACE}` };
    await service.http.send(`/admin/users/${user.id}`, { method: 'PATCH', bearer, json });
    expect(await tablesWith(TRACE)).toEqual(
      expect.arrayContaining(['audit_events', 'identities', 'mails', 'passkeys', 'users']),
    );

    const erased = await service.http.send(`/admin/users/${user.id}`, { method: 'DELETE', bearer });
    expect(erased.status).toBe(204);
    expect(await tablesWith(TRACE)).toEqual([]);
    // Changes of access, which end tokens that were issued before, are kept for an hour; the events that tell clients whose data
    // to delete, as long as other events; and that there was an agreement stays provable.
    expect(await tablesWith(user.id)).toEqual([
      'access_changes',
      'audit_events',
      'consent_versions',
      'events',
    ]);
  });

  it('no table holds an address of theirs that another instance had counted, and not written yet', async () => {
    const address = '203.0.113.77';
    const other = await startInstance(service.database, {});
    await until('it listens', () => other.app.get(Listener).isConnected);
    const user = await service.make.user();
    await service.make.signedIn(user);
    await service.database.query('UPDATE sessions SET address = $2 WHERE user_id = $1', [user.id, address]);
    const activity = other.app.get(ActivityService);
    activity.count({ kind: 'sign_in', detail: 'password', address });
    await service.make.eraseUser(user);
    await activity.flush();
    await until('no table holds it', async () => (await tablesWith(address)).length === 0);
  });
});
