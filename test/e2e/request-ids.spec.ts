import { randomUUID } from 'node:crypto';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import { enterPortal, madeForEach, useSharedService } from '../support/spec.js';

describe('A request id', () => {
  const service = useSharedService();
  const client = madeForEach(() => service.make.client());
  let operator: BrowserSession;
  let bearer: string;

  beforeAll(async () => {
    const viewer = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
    operator = await service.make.signedIn(viewer);
  });
  beforeEach(async () => (bearer = await service.make.clientToken(client)));

  const use = async (path = '/v2/users'): Promise<string> => {
    return (await service.http.get(path, { bearer })).headers.get('x-request-id')!;
  };
  const requestsPath = (query: Record<string, string> = {}, of = client.id): string =>
    `/admin/console/clients/${of}/requests?${new URLSearchParams(query).toString()}`;
  const rowsOf = (page: Page): string[] =>
    page.html.querySelectorAll('tbody tr').map(({ text }) => text.replace(/\s+/g, ' '));

  describe('finds the request of a client', () => {
    it('in the console, and no other request', async () => {
      await use();
      const id = await use('/v2/users/me');
      const page = await operator.open(requestsPath({ request_id: ` ${id} ` }));
      expect(page.status).toBe(200);
      const rows = rowsOf(page);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toContain(id);
      expect(rows[0]).toContain('404');
      expect(page.html.querySelector('#request_id, [name="request_id"]')!.getAttribute('value')).toBe(id);
      expect(page.html.querySelector(`a[href="/admin/console/requests/${id}"]`)).not.toBeNull();
      expect(rowsOf(await operator.open(requestsPath()))).toHaveLength(3);
      expect(rowsOf(await operator.open(requestsPath({ status: '404' })))).toHaveLength(1);
    });

    it('in the portal of the client', async () => {
      await use();
      const id = await use();
      const portal = await enterPortal(service, client);
      const rows = rowsOf(await portal.open(`/portal/requests?request_id=${id}`));
      expect(rows).toHaveLength(1);
      expect(rows[0]).toContain(id);
    });

    it('never among those of another client', async () => {
      const id = await use();
      const page = await operator.open(requestsPath({ request_id: id }, (await service.make.client()).id));
      expect(rowsOf(page)).toEqual([]);
      expect(page.html.querySelector('.empty')!.text).toContain('There are no such requests');
    });

    it.each(['x'.repeat(2000), '<script>', 'nothing like it'])('and nothing else: %s', async (request_id) => {
      const page = await operator.open(requestsPath({ request_id }));
      expect([page.status, rowsOf(page)]).toEqual([200, []]);
      expect(page.text).not.toContain('<script>');
    });
  });

  describe('finds what the audit log says of it', () => {
    it('in the console and in the admin API', async () => {
      const id = `by.support-${randomUUID()}`;
      const admin = await service.make.adminToken();
      const made = await service.http.send('/admin/users', {
        bearer: admin,
        headers: { 'x-request-id': id },
        json: { email: `${id}@mail.example`, name: 'Someone' },
      });
      expect(made.status).toBe(201);
      const subject = (made.json as { id: string }).id;
      const listed = await service.http.get(`/admin/audit_events?request_id=${id}`, { bearer: admin });
      expect(listed.json).toMatchObject([{ action: 'user.created', subject_id: subject, request_id: id }]);
      const other = await service.http.get(`/admin/audit_events?request_id=${id}&action=user.erased`, {
        bearer: admin,
      });
      expect(other.json).toEqual([]);
      const page = await operator.open(`/admin/console/audit?request_id=${id}`);
      expect(rowsOf(page)).toHaveLength(1);
      expect(page.html.querySelector('[name="request_id"]')!.getAttribute('value')).toBe(id);
    });

    it.each(['', 'x'.repeat(129)])('and refuses what is no request id: %s', async (id) => {
      const admin = await service.make.adminToken();
      const answer = await service.http.get(`/admin/audit_events?request_id=${id}`, { bearer: admin });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ field_errors: { request_id: [expect.any(String)] } });
    });
  });

  it.each([
    ['audit_events', 'request_id = $1 ORDER BY id DESC LIMIT 26'],
    ['client_requests', 'request_id = $1'],
  ])('is looked up in %s by an index', async (table, where) => {
    await use();
    await service.app.get(RequestLogService, { strict: false }).flush();
    const plan = await service.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM ${table} WHERE ${where}`.replace('$1', "'01HN2NJ9NMRZBXT1H6FT9N7735'"),
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    // The index of a partition repeats the column by which entries are in order.
    expect(text).toMatch(new RegExp(`${table}\\w*_request_id(_id)?_idx`));
    expect(text).not.toContain('Seq Scan');
  });
});
