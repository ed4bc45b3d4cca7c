import { ActivityService } from '#records/activity/activity.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import {
  AccountDeletionsService,
  AccountDeletionsWorker,
} from '#access/users/closing/account-deletions.service.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import { addContact } from '../support/contacts.js';
import { atEndOfFile } from '../support/between-files.js';
import { BrowserSession, madeOnce, PASSWORD, startInstance, until } from '../support/spec.js';
import { setUpApp, setUpPasskey } from '../support/factors-without-pages.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { columnsThatHold, sealedValues } from '../support/searched-database.js';
import { givePassword } from '../support/second-factors.js';
import { useServiceWithMailAndProvider } from '../support/set-up.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';
import { listOf } from '../support/list-of.js';

const NAME = 'Zora Erasable';
const EMAIL = 'zora.erasable@mail.example';
/** The address before. */
const EARLIER = 'earlier.erasable@mail.example';
const ADDRESS = '203.0.113.42';
const ANOTHER_ADDRESS = '2001:db8:77::1';
const BROWSER = 'ErasableBrowser/7.0';
const PLACE = 'Erasable Street 5';
const TRACES = [NAME, EMAIL, EARLIER, 'erasable', ADDRESS, ANOTHER_ADDRESS, BROWSER, PLACE];

describe('After a person has left,', () => {
  const idp = new IdentityProvider();
  const { service, smtp } = useServiceWithMailAndProvider(idp, [{ accounts: 'verified_email' }], {
    env: { ...WEBHOOK_ENV, SIGN_UP: 'true', TRUSTED_PROXIES: '127.0.0.1' },
  });
  const webhooks = Webhooks.setUp(service);
  const partner = madeOnce(() => service.make.client({ name: 'A partner' }));
  let userId: string;
  let sealedBefore: Map<string, Set<string>>;
  let foundBefore: string[];

  const by = (address: string): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': address, 'user-agent': BROWSER });

  beforeAll(async () => {
    await leaveOutSchedule(service, AccountDeletionsWorker);
    await webhooks.endpoint(partner, {
      // The second is sent after the erasure.
      types: [TYPE, 'user.consent_revoked'],
      // What it answers repeats what it was sent, and what it knows besides.
      reply: (response, { body }) =>
        void response.setHeader('x-driver', encodeURIComponent(EMAIL)).end(`${NAME} ${body}`),
    });
    // Everything that the service makes once is there.
    await service.make.tokens(partner, await service.make.user());
    sealedBefore = await sealedValues(service);
    await live();
    foundBefore = await columnsThatHold(service, TRACES);
    await leave();
  });

  /** Everything that a person can do, or have done to them, before leaving. */
  async function live(): Promise<void> {
    const { app, make, http } = service;
    // Before there is an account.
    await by(ADDRESS).fillIn('/sign-up', { email: EARLIER });
    const user = await make.user({ email: EARLIER, name: NAME, emailVerified: true });
    userId = user.id;
    await by(ADDRESS).fillIn('/sign-up', { email: EARLIER });
    await by(ADDRESS).fillIn('/password/forgotten', { email: EARLIER });
    await by(ANOTHER_ADDRESS).fillIn('/login', {
      email: EARLIER,
      password: 'a wrong password that was typed',
    });
    // A new address, by an operator; the person proves it and comes through a provider too.
    const bearer = await make.adminToken();
    const json = { email: EMAIL };
    expect((await http.send(`/admin/users/${userId}`, { method: 'PATCH', bearer, json })).status).toBe(200);
    await app.get(EmailVerificationService).mailLink(userId);
    idp.people.set('subject-erasable', { email: EMAIL, email_verified: true, name: NAME });
    const person = new PersonBrowser(service.url, idp.url, undefined, {
      'x-forwarded-for': ADDRESS,
      'user-agent': BROWSER,
    });
    expect((await person.logIn('subject-erasable')).status).toBe(303);
    await make.updateUser(user, { password: PASSWORD, emailVerified: true });
    expect((await person.logIn('subject-erasable')).status).toBe(303);
    await new PersonBrowser(service.url, idp.url).toCallback('subject-erasable');
    const browser = by(ADDRESS);
    await browser.logIn(EMAIL, PASSWORD);
    await setUpPasskey(service, browser, { name: `Key of ${NAME}` });
    await setUpApp(service, browser);
    await givePassword(by(ADDRESS), await make.updateUser(user, {}));
    await browser.submit(await browser.open('/account/export'), '/account/export');
    await by(ADDRESS).fillIn('/password/forgotten', { email: EMAIL });
    // What others write about the person.
    const scopes = ['charging_session:read'];
    await app.get(ConsentApprovals).record(partner.id, userId, scopes, `Signed by ${NAME}`, SERVICE_ACTOR);
    await addContact(service, partner, EMAIL);
    await addContact(service, partner, EARLIER);
    const organisations = [
      await make.user({ kind: 'organisation' }),
      await make.user({ kind: 'organisation' }),
    ];
    await app.get(InvitationsService).invite(organisations[0]!.id, EMAIL, 'viewer', SERVICE_ACTOR);
    await app.get(MembersService).add(organisations[1]!.id, userId, 'developer', SERVICE_ACTOR);
    await app.get(NotificationsService).raiseByOperator(
      {
        userId,
        messageId: 'ERR9',
        category: 'ACTIONABLE',
        shortTextTitle: `For ${NAME}`,
        shortTextBody: `Your car is at ${PLACE}.`,
      },
      SERVICE_ACTOR,
    );
    await service.database.query(
      `INSERT INTO approvals (id, action, subject_id, details, requested_by_type, requested_by_id, requested_by_person, expires_at)
       VALUES ('appr' || substr($1, 5), 'user.update', $1, jsonb_build_object('email', $2::text), 'user', $3, $3, now() + interval '7 days')`,
      [userId, EMAIL, organisations[0]!.id],
    );
    const { event_id } = await webhooks.publishOne(userId, { data: { id: PLACE, place: PLACE } });
    const [delivery] = await webhooks.deliveriesOf(event_id);
    await webhooks.finished(delivery!.id);
    // An application was disconnected before; what the partner answered to that is kept as well.
    const second = await make.client();
    const told = await webhooks.endpoint(second, {
      types: ['user.consent_revoked'],
      reply: (response) => void response.end(`Goodbye, ${NAME}`),
    });
    await make.consent(second, user);
    await make.revokeConsent(second, user);
    await webhooks.receives(told);
    await until('the answer is stored', async () => {
      const rows = await service.database.query(
        "SELECT 1 FROM delivery_attempts WHERE response_start LIKE 'Goodbye%'",
      );
      return rows.length === 1;
    });
    // Counted by the hour, a few seconds later.
    await until('the logins are counted', async () => {
      const rows = await service.database.query('SELECT 1 FROM activity_hours WHERE last_address = $1', [
        ADDRESS,
      ]);
      return rows.length > 0;
    });
    await until('the mails were sent', async () => {
      return (await service.database.query("SELECT 1 FROM mails WHERE state = 'pending'")).length === 0;
    });
    const page = await browser.open('/account/delete');
    expect((await browser.submit(page, '/account/delete', { email: EMAIL })).status).toBe(303);
  }

  async function leave(): Promise<void> {
    await service.database.query("UPDATE account_deletions SET due_at = now() - interval '1 second'");
    expect(await service.app.get(AccountDeletionsService).eraseDue()).toBe(1);
    // While the last mail waits, it does not name the person.
    expect(await columnsThatHold(service, TRACES)).toEqual([]);
    await until('the last mail has arrived', () =>
      smtp.to(EMAIL).some(({ subject }) => subject === 'Your account was deleted'),
    );
    await until('nothing waits', async () => {
      const rows = await service.database.query(
        "SELECT 1 FROM mails WHERE state = 'pending' UNION ALL SELECT 1 FROM deliveries WHERE state = 'pending'",
      );
      return rows.length === 0;
    });
    const answered = await service.database.query(
      `SELECT 1 FROM delivery_attempts JOIN deliveries d ON d.id = delivery_id
        WHERE d.event_type = 'user.consent_revoked' AND d.client_id = $1 AND status = 200`,
      [partner.id],
    );
    expect(answered).toHaveLength(1);
  }

  it('the search finds what it looks for while the person is there', () => {
    expect(foundBefore).toEqual(
      listOf(`
      activity_hours.last_address, approvals.details, audit_events.address, audit_events.after,
      audit_events.before, client_contacts.email, client_contacts.email_key, consent_versions.evidence,
      consents.evidence, delivery_attempts.response_headers, delivery_attempts.response_start,
      email_links.email, email_links.email_key, event_sequences.resource_id, events.payload,
      identities.subject, mails.address, notifications.messages, notifications.short_text_body,
      notifications.short_text_title, organisation_invitations.email, organisation_invitations.email_key,
      passkeys.name, sessions.address, sessions.provider_subject, sessions.user_agent, users.email,
      users.email_key, users.name
    `),
    );
  });

  it('no column of any table holds the name, an address, an IP address or the browser', async () => {
    expect(await columnsThatHold(service, TRACES)).toEqual([]);
  });

  it('what is sealed, and cannot be searched, is gone as well', async () => {
    const after = await sealedValues(service);
    expect([...after.keys()]).toEqual(
      listOf(`
      authenticator_apps.sealed_secret, email_links.return_to, encryption_canary.sealed,
      form_answers.attempt, form_answers.sealed_answer, logos.image, mails.sealed_content,
      passkeys.public_key, password_links.return_to, pending_sign_ins.account_mark,
      provider_sign_ins.sealed, pushed_requests.decided_by, receipt_keys.public_key, receipt_keys.sealed, sessions.sealed_id_token,
      token_keys.sealed, webhook_endpoints.sealed_client_secret, webhook_endpoints.sealed_headers, webhook_endpoints.sealed_previous_secret,
      webhook_endpoints.sealed_secret, webhook_signing_keys.public_key, webhook_signing_keys.sealed
    `),
    );
    // Of a partner's endpoint, which stays; and of a login at a provider that was begun and not ended, of which nobody knows whose it is:
    // random values for that login, for minutes.
    after.delete('webhook_endpoints.sealed_secret');
    after.delete('provider_sign_ins.sealed');
    // Of whom nobody knows: what forms were answered a moment ago, which only the browser can open that posted them.
    after.delete('form_answers.attempt');
    // The digest of a form with a random value, for an hour at most.
    after.delete('pushed_requests.decided_by');
    after.delete('form_answers.sealed_answer');
    expect(await service.database.query('SELECT 1 FROM provider_sign_ins WHERE user_id IS NOT NULL')).toEqual(
      [],
    );
    const left = [...after].flatMap(([column, values]) =>
      [...values].filter((value) => !sealedBefore.get(column)!.has(value)).map(() => column),
    );
    expect(left).toEqual([]);
  });

  it('the ID of the account, which names nobody any more, is in the audit log, in the record of consents and in what partners are told', async () => {
    expect(await columnsThatHold(service, [userId])).toEqual([
      'access_changes.about',
      'access_changes.ids',
      'approvals.subject_id',
      'audit_events.actor_id',
      'audit_events.after',
      'audit_events.subject_id',
      // Who agreed to what stays provable (docs/decisions/0031-consent-records.md).
      'consent_versions.user_id',
      'events.payload',
    ]);
  });

  it('no column holds an address of theirs that another instance had counted, and not written yet', async () => {
    const address = '203.0.113.77';
    const other = await startInstance(service.database, {});
    atEndOfFile(() => other.app.close());
    await until('it listens', () => other.app.get(Listener).isConnected);
    const user = await service.make.user();
    await service.make.signedIn(user);
    await service.database.query('UPDATE sessions SET address = $2 WHERE user_id = $1', [user.id, address]);
    const activity = other.app.get(ActivityService);
    activity.count({ kind: 'sign_in', detail: 'password', address });
    await service.make.eraseUser(user);
    await activity.flush();
    await until('no column holds it', async () => (await columnsThatHold(service, [address])).length === 0);
  });
});
