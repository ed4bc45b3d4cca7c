import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { PurgeService } from '../../src/database/purge/purge.service.js';
import { makeAdmin } from '../support/admins.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { madeOnce } from '../support/made.js';
import { wordsOf } from '../support/portal.js';
import { useService } from '../support/test-service.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

const CONSOLE = '/admin/console';

const service = useService({ env: { FOUR_EYES: 'true' } });

describe('In the console, with FOUR_EYES=true', () => {
  let asking: BrowserSession;
  let approving: BrowserSession;
  let user: UserEntity;
  let client: TestClient;

  beforeAll(async () => {
    await leaveOutScheduledPurges(service);
    asking = (await makeAdmin(service, 'Anna Asking')).browser;
    approving = (await makeAdmin(service)).browser;
  });
  beforeEach(async () => {
    await service.database.query('DELETE FROM approvals');
    user = await service.make.user({ name: 'Dana Driver' });
    client = await service.make.client({ name: 'Northwind' });
  });

  const submit = async (by: BrowserSession, path: string, fields = {}, from = path) =>
    by.submit(await by.open(from), path, fields);
  /** Follows the answer to a form; the page that it leads to, and its message. */
  const next = async (by: BrowserSession, answer: Page) => {
    expect(answer.status).toBe(303);
    const path = answer.headers.get('location')!;
    const page = await by.open(path);
    return { path, page, said: page.html.querySelector('[role="status"]')?.text };
  };
  const ask = async (by = asking) => next(by, await submit(by, `${CONSOLE}/users/${user.id}/erase`));

  /** What the navigation of every page says. */
  const waiting = async () => {
    const { html } = await approving.open(`${CONSOLE}/mails`);
    return html.querySelectorAll('.side-nav .count').map(({ text }) => text);
  };

  it.each([
    ['erasing a user', () => `/users/${user.id}/erase`, {}],
    ['making an admin', () => `/users/${user.id}/make-operator`, { operator_role: 'admin' }],
    ['deleting a client', () => `/clients/${client.id}/delete`, {}],
  ])(
    '%s leads to a page that says that nothing is done yet, and another admin approves',
    async (_what, path, fields) => {
      const form = await asking.open(CONSOLE + path());
      expect(wordsOf(form)).toContain('until another admin approves it');
      const asked = await next(asking, await asking.submit(form, CONSOLE + path(), fields));
      expect(asked.said).toBe('Nothing is done yet: another admin has to approve it.');
      expect(wordsOf(asked.page)).toContain('Pending');
      expect((await approving.open(`${CONSOLE}/users/${user.id}`)).text).not.toContain('operator: admin');
      expect(wordsOf(await approving.open(CONSOLE))).toContain('A request waits for approval.');
      expect(await waiting()).toEqual(['1 waiting']);
      const list = await approving.open(`${CONSOLE}/approvals?state=pending`);
      expect(list.html.querySelectorAll('tbody tr')).toHaveLength(1);
      const done = await next(approving, await submit(approving, `${asked.path}/approve`, {}, asked.path));
      expect(done.said).toBe('Approved and carried out.');
      expect(done.page.html.querySelectorAll('main form[action*="approvals"]')).toEqual([]);
      expect(wordsOf(await approving.open(CONSOLE))).not.toContain('waits for approval');
      expect(await waiting()).toEqual([]);
      const subject = await approving.open(CONSOLE + path().replace(/\/[a-z-]+$/, ''));
      if ('operator_role' in fields) expect(subject.text).toContain('operator: admin');
      else expect(subject.status).toBe(404);
    },
  );

  it('another role than admin is given at once', async () => {
    const path = `${CONSOLE}/users/${user.id}/make-operator`;
    const { page } = await next(asking, await submit(asking, path, { operator_role: 'support' }));
    expect(page.text).toContain('operator: support');
  });

  it('who asked sees no button to approve, and may reject', async () => {
    const { path, page } = await ask();
    expect(wordsOf(page)).toContain('You asked for this yourself, so you cannot approve it.');
    expect(page.html.querySelector(`form[action="${path}/approve"]`)).toBeNull();
    const rejected = await next(asking, await submit(asking, `${path}/reject`, {}, path));
    expect(rejected.said).toBe('Rejected. Nothing was done.');
    expect((await asking.open(`${CONSOLE}/users/${user.id}`)).status).toBe(200);
  });

  it('what became impossible says why, and stays pending', async () => {
    const { path } = await ask();
    await service.make.client({ ownerId: user.id });
    const answer = await submit(approving, `${path}/approve`, {}, path);
    expect([answer.status, answer.html.querySelector('[role="alert"]')!.text]).toEqual([
      409,
      expect.stringContaining('This user owns clients.'),
    ]);
    expect(wordsOf(answer)).toContain('Pending');
  });

  it('a second click on Approve says that it is decided', async () => {
    const { path } = await ask();
    const shown = await approving.open(path);
    await approving.submit(shown, `${path}/approve`);
    const again = await approving.submit(shown, `${path}/approve`);
    expect([again.status, again.html.querySelector('[role="alert"]')!.text]).toEqual([
      409,
      expect.stringContaining('it is approved'),
    ]);
  });

  it('viewers and support see approvals, but no buttons', async () => {
    const { path } = await ask();
    for (const operatorRole of ['viewer', 'support'] as const) {
      const browser = await service.make.signedIn(
        await service.make.user({ role: 'operator', operatorRole }),
      );
      const page = await browser.open(path);
      expect([page.status, page.html.querySelectorAll('main form[action*="approvals"]').length]).toEqual([
        200, 0,
      ]);
    }
  });

  it('approvals are listed with their state, also when overdue, and an unknown state is refused', async () => {
    const { path } = await ask();
    await service.database.query("UPDATE approvals SET expires_at = now() - interval '1 second'");
    expect(wordsOf(await asking.open(path))).toContain('Expired');
    expect(wordsOf(await asking.open(`${CONSOLE}/approvals?state=expired`))).toContain('Erase user');
    expect(wordsOf(await asking.open(`${CONSOLE}/approvals?state=pending`))).toContain(
      'There are no approvals.',
    );
    expect((await asking.open(`${CONSOLE}/approvals?state=gone`)).status).toBe(400);
    expect((await asking.open(`${CONSOLE}/approvals/nothing`)).status).toBe(404);
  });

  it('old approvals are purged a retention time after they expired', async () => {
    await ask();
    await service.database.query("UPDATE approvals SET expires_at = now() - interval '29 days'");
    await service.app.get(PurgeService).purge();
    expect(await service.database.query('SELECT 1 FROM approvals')).toHaveLength(1);
    await service.database.query("UPDATE approvals SET expires_at = now() - interval '31 days'");
    await service.app.get(PurgeService).purge();
    expect(await service.database.query('SELECT 1 FROM approvals')).toHaveLength(0);
  });
});

describe('An approval that waits', () => {
  const operator = madeOnce(() => service.make.user({ role: 'operator', name: 'Olga Operator' }));
  const browser = madeOnce(() => service.make.signedIn(operator));

  const textOf = ({ html }: Page): string => html.querySelector('main')!.text.replace(/\s+/g, ' ');
  const erase = async (path: string): Promise<string> => {
    const answer = await browser.submit(await browser.open(path), path);
    expect(answer.status).toBe(303);
    return answer.headers.get('location')!;
  };

  it('names the person to erase and who asked for it, on its page and in the list', async () => {
    const user = await service.make.user({ name: 'Ada <b>Driver</b>' });
    const path = await erase(`/admin/console/users/${user.id}/erase`);
    for (const page of [await browser.open(path), await browser.open('/admin/console/approvals')]) {
      expect(textOf(page)).toContain('Ada <b>Driver</b>');
      expect(textOf(page)).toContain('Olga Operator');
      const link = page.html.querySelector(`a[href="/admin/console/users/${user.id}"]`)!;
      expect(link.text).toContain('Ada');
      expect(page.text).toContain(user.id);
      expect(page.text).not.toContain('<b>Driver');
    }
  });

  it('names the client to delete', async () => {
    const client = await service.make.client({ name: 'Charge Planner' });
    const path = await erase(`/admin/console/clients/${client.id}/delete`);
    const page = await browser.open(path);
    expect(page.html.querySelector(`a[href="/admin/console/clients/${client.id}"]`)!.text).toBe(
      'Charge Planner',
    );
  });

  it('keeps the id of what is gone', async () => {
    const user = await service.make.user();
    const path = await erase(`/admin/console/users/${user.id}/erase`);
    await service.database.query('DELETE FROM users WHERE id = $1', [user.id]);
    expect(textOf(await browser.open(path))).toContain(user.id);
  });
});
