import { AuditService } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { auditEventsOn } from '../support/audit-events.js';
import { madeOnce, useSharedService } from '../support/spec.js';
import { endGrace } from '../support/tokens.js';

const AUDIT = '/admin/console/audit';

const service = useSharedService();

const operator = madeOnce(() => service.make.user({ role: 'operator' }));
const browser = madeOnce(() => service.make.signedIn(operator));

const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);

describe('The audit log', () => {
  it.each([
    ['changed', "UPDATE audit_events SET action = 'nothing'"],
    ['changed in its contents', `UPDATE audit_events SET after = '{"name": "x"}'`],
    ['stripped of its contents', 'UPDATE audit_events SET before = NULL, after = NULL, address = NULL'],
    ['put into another order', 'UPDATE audit_events SET xid = pg_current_xact_id()'],
    ['deleted', 'DELETE FROM audit_events'],
    ['truncated', 'TRUNCATE audit_events'],
  ])('cannot be %s', async (_what, sql) => {
    const before = await query('SELECT * FROM audit_events ORDER BY id');
    await expect(query(sql)).rejects.toThrow('The audit log cannot be changed.');
    expect(await query('SELECT * FROM audit_events ORDER BY id')).toEqual(before);
  });

  it("allows only the removal of an erased person's data", async () => {
    const user = await service.make.user({ name: 'Gone Person' });
    await service.make.eraseUser(user);
    const [event] = await query(
      'SELECT action, before, after FROM audit_events WHERE subject_id = $1 ORDER BY id',
      [user.id],
    );
    expect(event).toEqual({ action: 'user.created', before: null, after: null });
    const change = query(`UPDATE audit_events SET after = '{"name": "Another"}' WHERE subject_id = $1`, [
      user.id,
    ]);
    await expect(change).rejects.toThrow('cannot be changed');
  });

  it('records sign-ins and refused sign-ins', async () => {
    const user = await service.make.user();
    await service.make.signedIn(user);
    await expect(service.make.signedIn(user, 'wrong horse battery staple')).rejects.toThrow();
    const page = await browser.open(`${AUDIT}?subject=${user.id}`);
    const actions = page.html
      .querySelectorAll('tbody tr')
      .map((row) => row.querySelector('.changes a')!.text);
    expect(actions).toEqual(['session.refused', 'session.started', 'user.created']);
  });

  it('can be filtered by actor, action, subject and time, and its pages keep the filter', async () => {
    const client = await service.make.client({ name: 'Trail' });
    await browser.submit(
      await browser.open(`/admin/console/clients/${client.id}/edit`),
      `/admin/console/clients/${client.id}/edit`,
      { name: 'Renamed <b>' },
    );
    const count = async (filter: Record<string, string>) => {
      const page = await browser.open(`${AUDIT}?${new URLSearchParams(filter).toString()}`);
      return page.html.querySelectorAll('tbody tr').length;
    };
    expect(await count({ subject: client.id })).toBe(2);
    expect(await count({ subject: client.id, actor: operator.id })).toBe(1);
    expect(await count({ subject: client.id, action: 'client.created', actor: '' })).toBe(1);
    expect(await count({ subject: client.id, since: '2999-01-01' })).toBe(0);
    expect(await count({ subject: client.id, since: '2020-01-01' })).toBe(2);
    const first = await browser.open(`${AUDIT}?subject=${client.id}&page_size=1`);
    const next = first.html.querySelector('a[rel="next"]')!.getAttribute('href')!;
    const second = await browser.open(next.replaceAll('&amp;', '&'));
    expect(second.html.querySelectorAll('tbody tr')).toHaveLength(1);
  });

  it('records that a consent lost its evidence', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const bearer = await service.make.adminToken();
    const record = (json: object) =>
      service.http.send(`/admin/clients/${client.id}/consents/${user.id}`, { method: 'PUT', bearer, json });
    await record({ scopes: ['vehicle:read'], evidence: 'Contract 7' });
    await record({ scopes: ['vehicle:read'] });
    const scopes = { client_id: client.id, scopes: ['vehicle:read'] };
    expect(await auditEventsOn(service, user.id, 'consent.updated')).toMatchObject([
      { before: { ...scopes, evidence: 'Contract 7' }, after: scopes },
    ]);
  });

  it('describes what each row unfolds on a phone by its header', async () => {
    const rows = (await browser.open(AUDIT)).html.querySelectorAll('tbody tr');
    const headers = rows.map((row) => row.querySelector('th')!.id);
    expect(
      rows.map((row) => row.querySelector('summary[aria-label=More]')!.getAttribute('aria-describedby')),
    ).toEqual(headers);
    expect([headers.includes(''), new Set(headers).size]).toEqual([false, rows.length]);
    expect(rows.length).toBeGreaterThan(1);
  });

  it('shows the values before and after a change, with markup escaped', async () => {
    const page = await browser.open(`${AUDIT}?action=client.updated`);
    const changes = page.html.querySelector('.changes')!;
    expect(changes.querySelector('dd.was')!.text).toContain('Trail');
    expect(changes.querySelector('dd.is')!.text).toContain('Renamed <b>');
    expect(page.text).not.toContain('Renamed <b>');
    expect(page.html.querySelector('tbody')!.text).toContain('127.0.0.1');
  });

  it('names who acted and on what, and offers operators, clients and the actions it has', async () => {
    const client = await service.make.client({ name: 'Seen <i>' });
    const driver = await service.make.user();
    // Other files may have made so many that none are offered.
    jest.spyOn(service.app.get(ClientsService), 'firstNames').mockResolvedValueOnce([client]);
    const users = jest.spyOn(service.app.get(UsersService), 'firstNames');
    users.mockImplementation(async (_limit, only) => [operator, ...(only ? [] : [driver])]);
    const path = `/admin/console/clients/${client.id}/edit`;
    await browser.submit(await browser.open(path), path, { name: 'Seen again <i>' });
    const page = await browser.open(`${AUDIT}?subject=${client.id}`);
    const row = page.html.querySelector('tbody tr')!;
    const sentence = row.querySelector('th .cell')!;
    expect(sentence.text).toBe(`${operator.name} updated client Seen again <i>`);
    const links = sentence.querySelectorAll('a');
    expect(links.map(({ text, attributes }) => [text, attributes.href])).toEqual([
      [operator.name, `/admin/console/users/${operator.id}`],
      ['Seen again <i>', `/admin/console/clients/${client.id}`],
    ]);
    const offers = (field: string) =>
      page.html.querySelectorAll(`#${field}-offers option`).map(({ attributes }) => attributes.value);
    expect(offers('actor')).toEqual([operator.id, client.id]);
    expect(offers('action')).toEqual([...new Set(offers('action'))].sort());
    expect(offers('action')).toEqual(expect.arrayContaining(['client.created', 'client.updated']));
  });

  it('shows what is wrong with a filter next to the field', async () => {
    const page = await browser.open(`${AUDIT}?since=yesterday`);
    expect([page.status, page.html.querySelector('#since-error')!.text]).toEqual([
      400,
      expect.stringContaining('such as 2026-01-31'),
    ]);
    expect((await browser.open(`${AUDIT}?nonsense=1`)).status).toBe(400);
  });

  it('records the reason when a replayed refresh token revoked a grant', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const { refresh_token } = await service.make.tokens(client, user);
    const refresh = () =>
      service.http.token(
        { grant_type: 'refresh_token', refresh_token },
        { id: client.id, secret: client.secret },
      );
    await refresh();
    await endGrace(service, refresh_token);
    expect((await refresh()).status).toBe(400);
    const [event] = (await service.app.get(AuditService).list({ action: 'grant.revoked' }, { size: 1 }))
      .items;
    expect(event).toMatchObject({
      actorType: 'service',
      after: { reason: 'refresh_token_replayed', client_id: client.id, user_id: user.id },
    });
  });
});
