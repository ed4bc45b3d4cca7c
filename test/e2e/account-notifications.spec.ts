import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { NotificationsService, type NewNotification } from '#records/notifications/notifications.service.js';
import { madeForEach, type Page, placeOf, postedAnew, refresh, useSharedService } from '../support/spec.js';
import { endGrace } from '../support/tokens.js';

const PATH = '/account/notifications';

describe('The notifications on the account page', () => {
  const service = useSharedService();

  const user = madeForEach(() => service.make.user());
  const browser = madeForEach(() => service.make.signedIn(user));
  beforeEach(async () => {
    // Remove the notification of the sign-in.
    await service.database.query('DELETE FROM notifications WHERE user_id = $1', [user.id]);
  });

  const notify = async (input: Partial<NewNotification> = {}) =>
    (
      await service.app.get(NotificationsService).raiseByOperator(
        {
          userId: user.id,
          messageId: 'ERR9001',
          category: 'ACTIONABLE',
          shortTextTitle: 'Something happened',
          shortTextBody: 'It did.',
          ...input,
        },
        SERVICE_ACTOR,
      )
    ).id;
  const titles = (page: Page) => page.html.querySelectorAll('.opening h2').map((heading) => heading.text);
  const badges = (page: Page) => page.html.querySelectorAll('.badge').map(({ text }) => text);
  const buttons = (page: Page) =>
    page.html.querySelectorAll('input[name="mark"]').map((field) => field.getAttribute('value')!);
  const marks = async (id: string): Promise<{ read: boolean; resolved: boolean; read_at: Date }> =>
    (
      await service.database.query<{ read: boolean; resolved: boolean; read_at: Date }>(
        `SELECT read_at IS NOT NULL AS read, resolved_at IS NOT NULL AS resolved, read_at
           FROM notifications WHERE id = $1`,
        [id],
      )
    )[0]!;
  const audited = (id: string) =>
    service.database.query(
      `SELECT actor_id = $2 AS own, after FROM audit_events
        WHERE subject_id = $1 AND action = 'notification.marked' ORDER BY id`,
      [id, user.id],
    );

  it('accept only the marks "read" and "resolved"', async () => {
    const id = await notify();
    const page = await browser.open(PATH);
    for (const mark of [undefined, '', 'unread', 'READ', '<b>', 'constructor'])
      expect([mark, (await browser.submit(page, `${PATH}/${id}`, { mark })).status]).toEqual([mark, 400]);
    expect(await marks(id)).toMatchObject({ read: false, resolved: false });
  });

  it('include those of any client, those without a client and security notifications, newest first', async () => {
    const client = await service.make.client({ name: 'Northwind' });
    await notify({ shortTextTitle: 'Of a client', clientId: client.id });
    await notify({ shortTextTitle: 'Of none' });
    const tokens = await service.make.tokens(client, user);
    const second = (await refresh(service.http, client, tokens.refresh_token)).json.refresh_token as string;
    await refresh(service.http, client, second);
    await endGrace(service, tokens.refresh_token);
    await refresh(service.http, client, tokens.refresh_token);
    expect(titles(await browser.open(PATH))).toEqual([
      'Access of an application was ended for your safety',
      'You connected an application to your account',
      'New login to your account',
      'Of none',
      'Of a client',
    ]);
  });

  it('show category, time, full text and link', async () => {
    await notify({
      category: 'RETRY',
      eventTime: new Date('2024-02-29T10:00:00Z'),
      shortTextTitle: 'Held back <b>',
      detailPageTitle: 'Why?',
      detailPageBody: 'First.\n\nThen.',
      externalLink: 'https://help.example/a?b=1&c=2',
      externalButtonLabel: 'Read on',
    });
    const page = await browser.open(PATH);
    expect(titles(page)).toEqual(['Held back <b>']);
    expect(badges(page)).toEqual(['New', 'Resolves automatically']);
    expect(page.html.querySelector('.entry-meta time')!.text).toBe('29 February 2024 at 10:00 UTC');
    const row = page.html.querySelector('.opening details')!;
    expect(row.querySelector('summary')!.text).toMatch(/^Held back <b>\s+New\s+29 Feb 2024, 10:00 UTC$/);
    expect(row.text).toContain('Why?First.\n\nThen.');
    const link = page.html.querySelectorAll('.opening a').find(({ text }) => text === 'Read on')!;
    expect(link.getAttribute('href')).toBe('https://help.example/a?b=1&c=2');
    expect(link.getAttribute('rel')).toContain('noreferrer');
  });

  it('do not link to an address other than http or https', async () => {
    const id = await notify();
    await service.database.query('UPDATE notifications SET external_link = $2 WHERE id = $1', [
      id,
      'javascript:alert(1)',
    ]);
    expect((await browser.open(PATH)).text).not.toContain('javascript:');
  });

  it('have one action each: what needs attention is resolved, which is read too, and anything else is read', async () => {
    const service = await notify({ category: 'SERVICE' });
    const page = await browser.open(PATH);
    expect(buttons(page)).toEqual(['read']);
    await browser.submit(page, `${PATH}/${service}`);
    expect(await marks(service)).toMatchObject({ read: true, resolved: false });
    expect(buttons(await browser.open(PATH))).toEqual([]);
    const actionable = await notify();
    await browser.submit(await browser.open(PATH), `${PATH}/${actionable}`);
    expect(await marks(actionable)).toMatchObject({ read: true, resolved: true });
    expect(buttons(await browser.open(PATH))).toEqual([]);
  });

  it('are marked as read together, but for those that came after the page was shown, and those of others', async () => {
    const bystander = await service.make.user();
    const old = await notify();
    const foreign = await notify({ userId: bystander.id });
    const seen = await notify({ category: 'SERVICE' });
    const page = await browser.open(PATH);
    const later = await notify();
    const all = `${PATH}/mark_all_read`;
    for (const until of ['', 'x', seen.slice(0, -1)])
      expect([until, (await browser.submit(page, all, { until, ...postedAnew() })).status]).toEqual([
        until,
        404,
      ]);
    expect(await marks(seen)).toMatchObject({ read: false });
    const both = await Promise.all([1, 2].map(() => browser.submit(page, all, postedAnew())));
    expect(both.map(placeOf)).toEqual([
      [303, PATH],
      [303, PATH],
    ]);
    const read = await Promise.all([old, seen, later, foreign].map(async (id) => (await marks(id)).read));
    expect(read).toEqual([true, true, false, false]);
    expect(await marks(old)).toMatchObject({ resolved: false });
    expect(await Promise.all([old, seen, later].map(audited))).toEqual([
      [{ own: true, after: { read: true } }],
      [{ own: true, after: { read: true } }],
      [],
    ]);
    const after = await browser.open(PATH);
    expect(badges(after)).toContain('New');
    await browser.submit(after, all);
    expect((await browser.open(PATH)).text).not.toContain('mark_all_read');
  });

  it('can be marked as read and then as resolved, each only once', async () => {
    const id = await notify();
    const action = `${PATH}/${id}`;
    const first = await browser.open(PATH);
    expect([badges(first), buttons(first)]).toEqual([['New', 'Needs your attention'], ['resolved']]);
    expect(placeOf(await browser.submit(first, action, { mark: 'read' }))).toEqual([303, PATH]);
    const second = await browser.open(PATH);
    expect(second.html.querySelector('[role="status"]')!.text).toContain('marked as read');
    expect([badges(second), buttons(second)]).toEqual([['Needs your attention'], ['resolved']]);
    const readAt = (await marks(id)).read_at;
    await browser.submit(second, action, { mark: 'resolved' });
    const third = await browser.open(PATH);
    expect([badges(third), buttons(third)]).toEqual([['Resolved'], []]);
    await Promise.all([
      browser.submit(first, action, { mark: 'read', ...postedAnew() }),
      browser.submit(first, action, { mark: 'resolved' }),
    ]);
    expect(await marks(id)).toEqual({ read: true, resolved: true, read_at: readAt });
    expect(await audited(id)).toEqual([
      { own: true, after: { read: true } },
      { own: true, after: { resolved: true } },
    ]);
  });

  it('are listed in pages, and marking one returns to its page', async () => {
    await service.database.query(
      `INSERT INTO notifications (id, user_id, message_id, category, short_text_title, short_text_body)
       SELECT 'notf' || lpad(n::text, 26, '0'), $1, 'ERR1', 'SERVICE', 'Number ' || n, 'x'
         FROM generate_series(1, 200) n`,
      [user.id],
    );
    const seen: string[] = [];
    let path: string | undefined = PATH;
    let second: string | undefined;
    while (path) {
      const page: Page = await browser.open(path);
      seen.push(...titles(page));
      path = page.html.querySelector('a[rel="next"]')?.getAttribute('href');
      second ??= path;
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => `Number ${200 - n}`));
    const page = await browser.open(second!);
    const action = page.html.querySelector('.opening form')!.getAttribute('action')!;
    expect((await browser.submit(page, action, { mark: 'read' })).headers.get('location')).toBe(second);
    for (const elsewhere of [
      'https://evil.example',
      '//evil.example',
      '/logout',
      '/account/notificationsx',
    ]) {
      const led = await browser.submit(page, action, { mark: 'read', return_to: elsewhere });
      expect([elsewhere, led.headers.get('location')]).toEqual([elsewhere, PATH]);
    }
  });
});
