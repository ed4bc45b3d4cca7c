import { auditEventsOn } from '../support/audit-events.js';
import { type BrowserSession, madeOnce, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { enterPortal, makeEndpoint, seedDelivery } from '../support/portal.js';

const service = useSharedService({ env: WEBHOOK_ENV });
const CONSOLE = '/admin/console';
const admin = madeOnce(() => service.make.signedInNew({ role: 'operator', operatorRole: 'admin' }));
const viewer = madeOnce(() => service.make.signedInNew({ role: 'operator', operatorRole: 'viewer' }));
const client = madeOnce(() => service.make.client());

/** The lines of a file, the first of which names the columns. */
async function linesOf(browser: BrowserSession, path: string): Promise<string[]> {
  const answer = await browser.open(path);
  expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
    path,
    200,
    'text/csv; charset=utf-8',
  ]);
  expect(answer.headers.get('content-disposition')).toMatch(/^attachment; filename="[a-z-]+\.csv"$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.text.endsWith('\r\n')).toBe(true);
  return answer.text.split('\r\n').slice(0, -1);
}

describe('A list as a file', () => {
  it.each([
    ['users', 403],
    ['audit', 403],
    ['deliveries', 200],
  ])('of %s is for a viewer answered %i, and only then offered', async (list, status) => {
    await seedDelivery(service, await makeEndpoint(service, client), { state: 'delivered' });
    expect((await viewer.open(`${CONSOLE}/${list}/csv`)).status).toBe(status);
    const page = await viewer.open(`${CONSOLE}/${list}`);
    const offered = page.html.querySelector(`a[href^="${CONSOLE}/${list}/csv"]`) !== null;
    expect(offered).toBe(status === 200);
  });

  it.each(['users', 'audit'])('of %s asks for a password that was not given lately', async (list) => {
    const user = await service.make.user({ role: 'operator', operatorRole: 'admin' });
    const browser = await service.make.signedIn(user);
    await service.database.query(
      "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
      [user.id],
    );
    const answer = await browser.open(`${CONSOLE}/${list}/csv`);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('confirm-password'),
    ]);
  });

  it.each(['users/csv?environment=x', 'audit/csv?since=x', 'deliveries/csv?state=x'])(
    'is refused with a filter that is invalid: %s',
    async (path) => {
      expect((await admin.open(`${CONSOLE}/${path}`)).status).toBe(400);
    },
  );

  it.each([
    ['users', 'users'],
    ['audit', 'audit-log'],
  ])('of %s is in the audit log', async (path, list) => {
    const user = await service.make.user({ role: 'operator', operatorRole: 'admin' });
    await linesOf(await service.make.signedIn(user), `${CONSOLE}/${path}/csv?page_size=1`);
    const [entry] = await auditEventsOn(service, user.id, 'user.list_downloaded');
    expect(entry).toMatchObject({ actor_id: user.id, after: { list } });
  });

  it('has all pages of the list, as far as the filter goes, and no formulas', async () => {
    const mark = `exported${Date.now()}`;
    for (const name of [
      `=HYPERLINK("http://evil.example";"${mark}")`,
      `+${mark}`,
      `@${mark}`,
      `Plain, "${mark}"`,
    ]) {
      await service.make.user({ name });
    }
    await service.database.query(
      `INSERT INTO users (id, name, email, email_key, kind, role)
       SELECT 'user01HN2NJ9NMRZBXT1H6FT9N' || lpad(n::text, 4, '0'), $1 || n, $1 || n || '@mail.example', $1 || n || '@mail.example', 'individual', 'user'
         FROM generate_series(1, 150) n`,
      [mark],
    );
    const [head, ...rows] = await linesOf(admin, `${CONSOLE}/users/csv?q=${mark}`);
    expect(head).toBe('id,name,email,kind,environment,role,operator_role,enabled,created_at');
    expect(rows).toHaveLength(154);
    const cells = rows.map((row) => row.slice(row.indexOf(',') + 1));
    expect(cells.find((cell) => cell.includes('HYPERLINK'))).toMatch(/^"'=HYPERLINK\(""/);
    expect(cells.some((cell) => cell.startsWith(`'+${mark}`))).toBe(true);
    expect(cells.some((cell) => cell.startsWith(`'@${mark}`))).toBe(true);
    expect(cells.some((cell) => cell.startsWith(`"Plain, ""${mark}"""`))).toBe(true);
    expect(rows[0]).toMatch(/,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const created = await linesOf(admin, `${CONSOLE}/audit/csv?action=session.started`);
    expect(created[0]).toContain('subject_id,address,request_id,before,after');
    expect(created.length).toBeGreaterThan(1);
  });

  it.each([
    ['users', `${CONSOLE}/users/csv?q=nobody-has-this-name`, admin],
    ['audit', `${CONSOLE}/audit/csv?page_size=1`, admin],
    ['deliveries', `${CONSOLE}/deliveries/csv?state=failed`, viewer],
  ])('of %s begins with a byte-order mark, by which Excel knows UTF-8', async (_list, path, browser) => {
    const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
    const answer = await fetch(service.url + path, { headers: { cookie } });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, bytes.toString('latin1', 0, 5)]).toEqual([200, '\xef\xbb\xbfid']);
  });

  it('of deliveries has in the portal only those of the client', async () => {
    const stranger = await service.make.client();
    const [own, others] = [await makeEndpoint(service, client), await makeEndpoint(service, stranger)];
    const mine = await seedDelivery(service, own, { state: 'failed', attempts: [{ status: 500 }] });
    const theirs = await seedDelivery(service, others, { state: 'failed' });
    const browser = await enterPortal(service, client);
    const rows = await linesOf(browser, '/portal/deliveries/csv?state=failed');
    expect(rows.slice(1).map((row) => row.slice(0, row.indexOf(',')))).toEqual([mine]);
    expect((await browser.open('/portal/deliveries/csv?state=x')).status).toBe(400);
    const all = (await linesOf(viewer, `${CONSOLE}/deliveries/csv?state=failed`)).join();
    expect([all.includes(mine), all.includes(theirs)]).toEqual([true, true]);
    expect(
      (await browser.open('/portal/deliveries')).html.querySelector('a[href="/portal/deliveries/csv"]'),
    ).not.toBeNull();
  });
});
