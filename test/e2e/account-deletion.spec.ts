import { loadSettings, Settings } from '#platform/config/settings.js';
import {
  AccountDeletionsService,
  AccountDeletionsWorker,
} from '#access/users/closing/account-deletions.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { actionsOn, auditEventsOn } from '../support/audit-events.js';
import { BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { withSettings } from '../support/changed-settings.js';
import { madeForEach, placeOf, until, useServiceWithMail } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';
import { leaveOutSchedule } from '../support/scheduled-work.js';
import { PATIENT, TEST_ENCRYPTION_KEY } from '../support/test-service.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const PATH = '/account/delete';
const KEEP = '/account/delete/keep';

describe('Deleting one’s account', () => {
  const { service, smtp } = useServiceWithMail({ env: WEBHOOK_ENV, instances: 2, databaseOptions: PATIENT });
  const webhooks = Webhooks.setUp(service);
  beforeAll(() => leaveOutSchedule(service, AccountDeletionsWorker));
  const user = madeForEach(() => service.make.user({ emailVerified: true }));
  const browser = madeForEach(() => service.make.signedIn(user));

  /** The mail to the person with this subject, once it has arrived. */
  const mail = async (title: string) => {
    const found = () => smtp.to(user.email).filter(({ subject }) => subject === title);
    await until(`“${title}” has arrived`, () => found().length > 0);
    expect(found()).toHaveLength(1);
    return found()[0]!;
  };
  const ask = (by: BrowserSession = browser, email = user.email) => by.fillIn(PATH, { email });
  const makeDue = () =>
    service.database.query(
      "UPDATE account_deletions SET due_at = now() - interval '1 second' WHERE user_id = $1",
      [user.id],
    );
  const deletions = (n = 0) => service.instances[n]!.app.get(AccountDeletionsService);
  const exists = async () =>
    (await service.database.query('SELECT 1 FROM users WHERE id = $1', [user.id])).length === 1;
  const waits = async () =>
    (await service.database.query('SELECT 1 FROM account_deletions WHERE user_id = $1', [user.id])).length ===
    1;
  const alertOn = (page: Page) => page.html.querySelector('[role="alert"]')?.text ?? '';

  describe('is refused', () => {
    it('without the address of the account', async () => {
      for (const email of ['', 'another@mail.example', user.name]) {
        const answer = await ask(browser, email);
        expect(answer.status).toBe(400);
        expect(answer.html.querySelector('#email-error')!.text).toContain(
          'not the email address of your account',
        );
      }
      expect(await waits()).toBe(false);
    });

    it('after a login of long ago', async () => {
      const page = await browser.open(PATH);
      await service.make.ageSessions(user);
      for (const answer of [
        await browser.open(PATH),
        await browser.submit(page, PATH, { email: user.email }),
      ]) {
        expect(placeOf(answer)).toEqual([303, `/account/confirm?return_to=${encodeURIComponent(PATH)}`]);
      }
      expect(await waits()).toBe(false);
    });

    it('to operators, and says what to do first', async () => {
      const operator = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
      const theirs = await service.make.signedIn(operator);
      const page = await theirs.open(PATH);
      expect(alertOn(page)).toContain('cannot be deleted yet');
      expect(page.html.text).toContain('Ask an admin to take that role from you first');
      expect(page.html.querySelector(`form[action="${PATH}"]`)).toBeNull();
    });

    it('to owners of applications, and to those who became one since the page was shown', async () => {
      const page = await browser.open(PATH);
      const client = await service.make.client({ ownerId: user.id });
      const answer = await browser.submit(page, PATH, { email: user.email });
      expect(answer.status).toBe(409);
      expect(answer.html.text).toContain('Ask us to delete them first');
      expect((await browser.open(PATH)).html.text).toContain('Ask us to delete them first');
      expect(await waits()).toBe(false);
      await service.make.deleteClient(client);
      expect(placeOf(await ask())).toEqual([303, PATH]);
    });

    it('at its time to those who have become operators or owners, who are told, and can ask again', async () => {
      await ask();
      const client = await service.make.client({ ownerId: user.id });
      await makeDue();
      expect(await deletions().eraseDue()).toBe(0);
      expect([await exists(), await waits()]).toEqual([true, false]);
      expect((await auditEventsOn(service, user.id, 'user.deletion')).at(-1)).toMatchObject({
        action: 'user.deletion_refused',
        after: { reason: 'owns_clients' },
      });
      await mail('Your account could not be deleted');
      await service.make.deleteClient(client);
      expect(placeOf(await ask())).toEqual([303, PATH]);
    });
  });

  it('takes an address with an umlaut, in a field that browsers leave as it is typed', async () => {
    const email = 'jörg@müller.example';
    const theirs = await service.make.signedIn(await service.make.user({ email }));
    const page = await theirs.open(PATH);
    expect(page.html.querySelector('#email')!.getAttribute('type')).toBe('text');
    expect(placeOf(await theirs.submit(page, PATH, { email }))).toEqual([303, PATH]);
  });

  it('says what it means, waits for seven days, and is shown and mailed', async () => {
    await service.make.tokens(await service.make.client({ name: 'North <b>wind' }), user);
    const page = await browser.open(PATH);
    expect(page.html.querySelector('ul li bdi')!.text).toBe('North <b>wind');
    // The record of consents outlives the account (§2).
    expect(page.html.text).toContain(
      'for five years after the end of each agreement, what you had agreed to share',
    );
    expect(page.html.text).not.toContain('agreements are deleted');
    const answer = await browser.submit(page, PATH, { email: ` ${user.email.toUpperCase()} ` });
    expect(placeOf(answer)).toEqual([303, PATH]);
    const days = await service.database.value<number>(
      'SELECT extract(epoch FROM due_at - requested_at) / 86400 AS days FROM account_deletions WHERE user_id = $1',
      [user.id],
    );
    expect(Number(days)).toBe(7);
    for (const path of ['/account', PATH]) {
      const shown = await browser.open(path);
      expect(shown.html.text).toContain('Your account will be deleted on');
      expect(shown.html.querySelector(`form[action="${KEEP}"] button`)!.text).toBe('Keep my account');
    }
    expect((await browser.open('/account')).html.querySelectorAll(`a[href="${PATH}"]`)).toEqual([]);
    const { text } = await mail('Your account will be deleted');
    expect(text).toContain('Keep my account');
    // Operators see it, too.
    const bearer = await service.make.adminToken();
    const { deletion_due_at: due } = (await service.http.get(`/admin/users/${user.id}`, { bearer })).json;
    expect(new Date(due as string).getTime()).toBeGreaterThan(Date.now());
    const viewer = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
    const shownTo = await (await service.make.signedIn(viewer)).open(`/admin/console/users/${user.id}`);
    expect(shownTo.html.querySelector(`time[datetime="${due as string}"]`)).not.toBeNull();
    // Nothing has changed yet.
    expect(await deletions().eraseDue()).toBe(0);
    expect((await service.make.signedIn(user)).cookies.has('cds_session')).toBe(true);
    expect(await auditEventsOn(service, user.id, 'user.deletion')).toEqual([
      expect.objectContaining({ action: 'user.deletion_requested', actor_id: user.id }),
    ]);
  });

  it('tells every application with access when it is asked for and when the account stays, each once, and nothing but when', async () => {
    const types = ['user.deletion_requested', 'user.deletion_cancelled'];
    const [first, second, former, later] = [
      await service.make.client(),
      await service.make.client(),
      await service.make.client(),
      await service.make.client(),
    ];
    for (const each of [first, second, former]) await service.make.consent(each, user);
    await service.make.revokeConsent(former, user);
    const endpoints = await Promise.all(
      [first, second, former, later].map((each) => webhooks.endpoint(each, { types })),
    );
    const page = await browser.open(PATH);
    const submit = () => browser.submit(page, PATH, { email: user.email, ...postedAnew() });
    await Promise.all([submit(), submit()]);
    const due = await service.database.value<Date>(
      'SELECT due_at FROM account_deletions WHERE user_id = $1',
      [user.id],
    );
    await service.make.consent(later, user);
    const account = await browser.open('/account');
    const keep = () => browser.submit(account, KEEP, postedAnew());
    await Promise.all([keep(), keep()]);
    // At its time, the second wish meets an obstacle.
    await ask();
    await service.make.client({ ownerId: user.id });
    await makeDue();
    await deletions().eraseDue();
    const told = (n: number) =>
      webhooks
        .received(endpoints[n]!)
        .map(({ body }) => JSON.parse(body) as { type: string; user_id: string; data: object })
        .sort((one, other) => (other.type < one.type ? -1 : 1));
    await until('both of each have arrived', () => told(0).length + told(1).length + told(3).length >= 11);
    for (const [n, client] of [first, second].entries()) {
      const [requested, again, ...cancelled] = told(n);
      expect([requested, again]).toContainEqual(
        expect.objectContaining({
          type: 'user.deletion_requested',
          user_id: user.id,
          data: { client_id: client.id, due_at: due.toISOString() },
        }),
      );
      const stays = { type: 'user.deletion_cancelled', data: { client_id: client.id } };
      expect(cancelled).toEqual([expect.objectContaining(stays), expect.objectContaining(stays)]);
    }
    expect(told(2)).toEqual([]);
    expect(told(3).map(({ type }) => type)).toEqual([
      'user.deletion_requested',
      'user.deletion_cancelled',
      'user.deletion_cancelled',
    ]);
  });

  it('asked for twice changes nothing, also at once', async () => {
    const page = await browser.open(PATH);
    const submit = () => browser.submit(page, PATH, { email: user.email, ...postedAnew() });
    const answers = await Promise.all([submit(), submit(), submit()]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(await actionsOn(service, user.id, 'user.deletion')).toEqual(['user.deletion_requested']);
    expect(
      await service.database.query('SELECT 1 FROM notifications WHERE user_id = $1 AND message_id = $2', [
        user.id,
        'ERR2404',
      ]),
    ).toHaveLength(1);
  });

  it('can be taken back, also twice and after a login of long ago', async () => {
    await ask();
    const page = await browser.open('/account');
    await service.make.ageSessions(user);
    expect(placeOf(await browser.submit(page, KEEP))).toEqual([303, '/account']);
    expect(placeOf(await browser.submit(page, KEEP))).toEqual([303, '/account']);
    expect(await waits()).toBe(false);
    await mail('Your account stays');
    expect(await actionsOn(service, user.id, 'user.deletion')).toEqual([
      'user.deletion_requested',
      'user.deletion_cancelled',
    ]);
    expect(await deletions().eraseDue()).toBe(0);
    expect((await browser.open('/account')).html.text).not.toContain('will be deleted');
  });

  it('erases the account at its time, also a disabled one, tells every partner who had access, and mails the person', async () => {
    const [first, second, former] = [
      await service.make.client(),
      await service.make.client(),
      await service.make.client(),
    ];
    for (const each of [first, second, former]) await service.make.consent(each, user);
    await service.make.revokeConsent(former, user);
    const types = [TYPE, 'user.consent_revoked'];
    const told = [await webhooks.endpoint(first, { types }), await webhooks.endpoint(second, { types })];
    const silent = await webhooks.endpoint(former, { types });
    await ask();
    await service.make.setEnabled(user, false);
    await makeDue();
    expect(await deletions().eraseDue(AbortSignal.abort())).toBe(0);
    expect(await deletions().eraseDue()).toBe(1);
    expect(await exists()).toBe(false);
    for (const endpoint of told) {
      await webhooks.receives(endpoint);
      const bodies = webhooks.received(endpoint).map(({ body }) => JSON.parse(body) as object);
      expect(bodies).toEqual([expect.objectContaining({ type: 'user.consent_revoked', user_id: user.id })]);
    }
    expect(webhooks.received(silent)).toEqual([]);
    const events = await auditEventsOn(service, user.id, 'user.');
    expect(events.at(-1)).toMatchObject({
      action: 'user.erased',
      actor_type: 'user',
      actor_id: user.id,
      address: null,
      before: { clients: [first.id, second.id].sort(), former_clients: [former.id] },
    });
    // To an address that stands nowhere any more: not even where the mail waited.
    await mail('Your account was deleted');
    const [row] = await service.database.query(
      "SELECT address, user_id FROM mails WHERE kind = 'account_deleted' ORDER BY id DESC LIMIT 1",
    );
    expect(row).toEqual({ address: 'erased', user_id: null });
    // The next who uses the browser finds nobody logged in.
    expect((await browser.open('/account')).status).toBe(302);
  });

  const ROW = 'SELECT 1 FROM users WHERE id = $1 FOR UPDATE';
  const leased = () =>
    until('the first instance has claimed it', async () => {
      const rows = await service.database.query(
        'SELECT 1 FROM account_deletions WHERE user_id = $1 AND lease_until > now()',
        [user.id],
      );
      return rows.length === 1;
    });
  const endLease = () =>
    service.database.query("UPDATE account_deletions SET lease_until = '-infinity' WHERE user_id = $1", [
      user.id,
    ]);

  it('happens once if an instance takes it over from one that is still at it', async () => {
    await ask();
    await makeDue();
    const takeOver = async () => {
      await leased();
      expect(await deletions(1).eraseDue()).toBe(0);
      await endLease();
      return deletions(1).eraseDue();
    };
    const erased = await whileHeld(service, [ROW, [user.id]], [() => deletions(0).eraseDue(), takeOver]);
    expect(erased.sort()).toEqual([0, 1]);
    expect(await exists()).toBe(false);
    expect(await actionsOn(service, user.id, 'user.erased')).toEqual(['user.erased']);
    await mail('Your account was deleted');
  });

  it('and keeping the account at that moment: one of both counts, wholly', async () => {
    await ask();
    const page = await browser.open('/account');
    await makeDue();
    const [erased, kept] = await whileHeld<number | Page>(
      service,
      [ROW, [user.id]],
      [() => deletions(0).eraseDue(), () => browser.submit(page, KEEP)],
    );
    expect(placeOf(kept as Page)).toEqual([303, '/account']);
    const actions = await actionsOn(service, user.id, 'user.');
    expect([
      await exists(),
      actions.includes('user.erased'),
      actions.includes('user.deletion_cancelled'),
    ]).toEqual(erased === 1 ? [false, true, false] : [true, false, true]);
  });

  it('is tried again after its lease if it fails, and does not hold up others', async () => {
    const other = await service.make.user();
    await ask();
    const users = service.app.get(UsersService);
    await service.database.query(
      "INSERT INTO account_deletions (user_id, due_at) VALUES ($1, now() - interval '1 second')",
      [other.id],
    );
    await service.database.query(
      "UPDATE account_deletions SET due_at = now() - interval '1 minute' WHERE user_id = $1",
      [user.id],
    );
    const erase = users.erase.bind(users);
    const spy = jest
      .spyOn(users, 'erase')
      .mockImplementation((id, actor) =>
        id === user.id ? Promise.reject(new Error('The disk is on fire.')) : erase(id, actor),
      );
    expect(await deletions().eraseDue()).toBe(1);
    expect([await exists(), await waits()]).toEqual([true, true]);
    expect(await users.find(other.id)).toBeNull();
    spy.mockRestore();
    expect(await deletions(1).eraseDue()).toBe(0);
    await service.database.query('UPDATE account_deletions SET lease_until = now() WHERE user_id = $1', [
      user.id,
    ]);
    expect(await deletions(1).eraseDue()).toBe(1);
  });

  it('is carried out on schedule, by instances that work on what waits', async () => {
    await ask();
    await makeDue();
    const settings = service.app.get(Settings);
    const worker = service.app.get(AccountDeletionsWorker);
    // Here it keeps to its schedule.
    Object.assign(worker, { running: undefined });
    settings.role = 'api';
    await worker['runAlone']();
    expect(await exists()).toBe(true);
    // Nothing is awaited from here on that could let the schedule begin first.
    settings.role = 'all';
    await Promise.all([worker['runAlone'](), worker['runAlone']()]);
    expect(await exists()).toBe(false);
  });

  it('ends with an erasure by an operator', async () => {
    await ask();
    await service.make.eraseUser(user);
    expect(await waits()).toBe(false);
    expect(await deletions().eraseDue()).toBe(0);
  });

  it('with ACCOUNT_DELETION_DAYS=0 happens at once, and the page after it says so', async () => {
    const needed = { NODE_ENV: 'test', DATABASE_URL: 'postgres://h/x', ENCRYPTION_KEY: TEST_ENCRYPTION_KEY };
    const { accountDeletionDays } = await loadSettings({ ...needed, ACCOUNT_DELETION_DAYS: '0' });
    expect(accountDeletionDays).toBe(0);
    await withSettings(service, { accountDeletionDays }, async () => {
      const page = await browser.open(PATH);
      expect(page.html.text).toContain('deleted at once');
      const answer = await browser.submit(page, PATH, { email: user.email });
      expect(placeOf(answer)).toEqual([303, '/account-deleted']);
    });
    expect((await browser.open('/account-deleted')).html.querySelector('h1')!.text).toBe(
      'Your account was deleted',
    );
    expect((await browser.open('/account')).status).toBe(302);
    expect(await exists()).toBe(false);
  });
});
