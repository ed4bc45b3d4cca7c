import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { CONSOLE, setUpConsole } from '../support/console.js';
import { madeForEach, madeOnce, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { enterPortal, errorAt, makeEndpoint, seedDelivery } from '../support/portal.js';
import { listOf } from '../support/list-of.js';

describe('In the console,', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  const { browser, submit, actionsOn } = setUpConsole(service);
  const client = madeForEach(() => service.make.client({ name: 'Northwind' }));

  describe('webhook endpoints', () => {
    it('are added, updated, disabled, enabled and deleted, each with an audit event', async () => {
      const added = await submit(`${CONSOLE}/clients/${client.id}/endpoints/new`, {
        url: 'http://127.0.0.1:9/first',
        event_types: ['vehicle.updated'],
      });
      expect(added.status).toBe(303);
      const shown = await browser.open(added.headers.get('location')!);
      expect(shown.html.querySelector('code.secret')!.text).toMatch(/^whsec_/);
      const id = /endp[0-9A-Z]{26}/.exec(added.headers.get('location')!)![0];
      const path = `${CONSOLE}/endpoints/${id}`;
      expect((await submit(`${path}/edit`, { description: 'Back office' })).status).toBe(303);
      expect((await submit(`${path}/disable`, {}, path)).status).toBe(303);
      const disabled = await browser.open(`${CONSOLE}/endpoints?state=disabled`);
      expect(disabled.html.querySelector('tbody')!.text).toContain('/first');
      expect((await submit(`${path}/enable`, {}, path)).status).toBe(303);
      expect((await browser.open(path)).html.querySelector('.badge')!.text).toBe('Enabled');
      expect((await submit(`${path}/delete`)).status).toBe(303);
      expect((await browser.open(path)).status).toBe(404);
      expect(await actionsOn(id)).toEqual(
        listOf(`
        webhook_endpoint.created, webhook_endpoint.updated, webhook_endpoint.updated,
        webhook_endpoint.updated, webhook_endpoint.deleted
      `),
      );
    });

    it('get and lose the authorization server of their receiver, whose secret is never shown', async () => {
      const endpoint = await makeEndpoint(service, client);
      const path = `${CONSOLE}/endpoints/${endpoint.id}`;
      const given = {
        'authentication.token_url': 'http://127.0.0.1:9/token',
        'authentication.client_id': 'charging-data',
      };
      const refused = await submit(`${path}/edit`, given);
      expect([refused.status, errorAt(refused, 'client-secret')]).toEqual([
        400,
        'Must be entered: there is none yet for this token endpoint and client ID.',
      ]);
      const saved = await submit(`${path}/edit`, {
        ...given,
        'authentication.client_secret': 'of-the-receiver',
      });
      expect(saved.status).toBe(303);
      expect((await submit(`${path}/edit`, { description: 'kept' })).status).toBe(303);
      for (const page of [path, `${path}/edit`]) {
        const { text } = await browser.open(page);
        expect([text.includes('http://127.0.0.1:9/token'), text.includes('of-the-receiver')]).toEqual([
          true,
          false,
        ]);
      }
      const none = { 'authentication.token_url': '', 'authentication.client_id': '' };
      expect((await submit(`${path}/edit`, none)).status).toBe(303);
      expect((await browser.open(path)).text).not.toContain('http://127.0.0.1:9/token');
    });

    it('get batches and lose them again', async () => {
      const endpoint = await makeEndpoint(service, client);
      const path = `${CONSOLE}/endpoints/${endpoint.id}`;
      const refused = await submit(`${path}/edit`, { 'batch.max': '0', 'batch.wait_ms': 'soon' });
      expect([refused.status, errorAt(refused, 'batch-max'), errorAt(refused, 'batch-wait')]).toEqual([
        400,
        'Enter a whole number from 1 to 100.',
        'Enter a whole number from 0 to 5,000.',
      ]);
      expect((await submit(`${path}/edit`, { 'batch.max': '20' })).status).toBe(303);
      expect((await submit(`${path}/edit`, { description: 'kept' })).status).toBe(303);
      expect((await browser.open(path)).text).toContain('Up to 20 events in a request');
      expect((await submit(`${path}/edit`, { 'batch.max': '', 'batch.wait_ms': '' })).status).toBe(303);
      expect((await browser.open(path)).text).not.toContain('events in a request');
    });

    it('that fail are counted beside every page, without those of sandboxes, and listed', async () => {
      const sandbox = await service.make.client({ environment: 'sandbox', ownerId: client.ownerId });
      const counted = async () => {
        const { html } = await browser.open(`${CONSOLE}/mails`);
        const badge = html.querySelector('.side-nav li:has(a[href$="/endpoints"]) .count');
        // The word is there for everybody: a bare number says nothing.
        expect(html.querySelectorAll('.side-nav .visually-hidden')).toEqual([]);
        return badge ? Number(/^(\d+) failing$/.exec(badge.text)![1]) : 0;
      };
      const before = await counted();
      const failing = await makeEndpoint(service, client);
      for (const { id } of [failing, await makeEndpoint(service, sandbox)]) {
        await service.database.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [
          id,
        ]);
      }
      expect(await counted()).toBe(before + 1);
      browser.cookies.set('cds_folded', 'event-types.clients.nothing');
      const groups = (await browser.open(`${CONSOLE}/users`)).html.querySelectorAll('.nav-group');
      expect(
        groups.map((group) => [group.querySelector('summary span')!.text, group.hasAttribute('open')]),
      ).toEqual([
        ['At a glance', true],
        ['Access', true],
        ['Webhooks', false],
        ['Messages', true],
        ['To decide', true],
      ]);
      expect(groups[2]!.querySelector('summary .count-folded')!.text).toBe(`${before + 1} failing`);
      browser.cookies.delete('cds_folded');
      const list = await browser.open(`${CONSOLE}/endpoints?client_id=${client.id}&state=failing`);
      expect(list.html.querySelectorAll('tbody tr .badge').map(({ text }) => text)).toEqual(['Failing']);
      await makeEndpoint(service, client);
      expect(
        (
          await browser.open(`${CONSOLE}/endpoints?client_id=${client.id}&state=failing`)
        ).html.querySelectorAll('tbody tr'),
      ).toHaveLength(1);
      const all = await browser.open(`${CONSOLE}/endpoints?state=failing&page_size=100`);
      expect(all.html.querySelectorAll('tbody tr')).toHaveLength(before + 1);
    });

    it('are updated by a form that leaves as it is what others have changed since it was opened', async () => {
      const { id } = await makeEndpoint(service, client);
      const path = `${CONSOLE}/endpoints/${id}`;
      const page = await browser.open(`${path}/edit`);
      const bearer = await service.make.adminToken();
      const json = {
        url: 'http://127.0.0.1:9/moved',
        headers: { 'x-tenant': 'northwind' },
        max_per_minute: 7,
      };
      const moved = await service.http.send(`/admin/webhook_endpoints/${id}`, {
        method: 'PATCH',
        json,
        bearer,
      });
      expect(moved.status).toBe(200);
      expect((await browser.submit(page, `${path}/edit`, { description: 'Mine' })).status).toBe(303);
      const shown = await service.http.get(`/admin/webhook_endpoints/${id}`, { bearer });
      expect(shown.json).toMatchObject({ url: json.url, max_per_minute: 7, description: 'Mine' });
      expect((await browser.open(path)).text).toContain('x-tenant');
    });

    it('keep what is changed while a form is being made', async () => {
      const { id } = await makeEndpoint(service, client, { description: 'Before' });
      const path = `${CONSOLE}/endpoints/${id}/edit`;
      const endpoints = service.app.get(EndpointsService);
      const read = await endpoints.get(id);
      await endpoints.update(id, undefined, { description: 'Meanwhile' }, SERVICE_ACTOR);
      const get = jest.spyOn(endpoints, 'get').mockResolvedValueOnce(read);
      const page = await browser.open(path);
      get.mockRestore();
      expect((await browser.submit(page, path, { max_per_minute: '7' })).status).toBe(303);
      expect(await endpoints.get(id)).toMatchObject({ description: 'Meanwhile', maxPerMinute: 7 });
    });

    it('keep an event type that was added since a form was opened, in whatever order they have them', async () => {
      const { id } = await makeEndpoint(service, client, {
        eventTypes: ['vehicle.updated', 'charging_session.created'],
      });
      const path = `${CONSOLE}/endpoints/${id}/edit`;
      const page = await browser.open(path);
      const bearer = await service.make.adminToken();
      const json = { event_types: ['vehicle.updated', 'vehicle.created', 'charging_session.created'] };
      const added = await service.http.send(`/admin/webhook_endpoints/${id}`, {
        method: 'PATCH',
        json,
        bearer,
      });
      expect(added.status).toBe(200);
      expect((await browser.submit(page, path, { description: 'Mine' })).status).toBe(303);
      const shown = await service.http.get(`/admin/webhook_endpoints/${id}`, { bearer });
      expect(shown.json).toMatchObject({ ...json, description: 'Mine' });
    });

    it('are listed for all clients or for one', async () => {
      const other = await service.make.client();
      await makeEndpoint(service, client);
      await makeEndpoint(service, other);
      const rows = async (query: string) =>
        (await browser.open(`${CONSOLE}/endpoints${query}`)).html.querySelectorAll('tbody tr').length;
      expect(await rows('')).toBeGreaterThanOrEqual(2);
      expect(await rows(`?client_id=${client.id}&state=`)).toBe(1);
      const wrong = await browser.open(`${CONSOLE}/endpoints?client_id=x`);
      expect([wrong.status, wrong.html.querySelector('#client_id-error')!.text]).toEqual([
        400,
        'This is not the ID of a client, which is clnt followed by 26 letters and digits.',
      ]);
    });
  });

  it('deliveries are filtered by client, endpoint and state, shown, and resent', async () => {
    const endpoint = await makeEndpoint(service, client);
    const id = await seedDelivery(service, endpoint, {
      state: 'failed',
      attempts: [
        { status: 500, responseStart: '<b>broken</b>' },
        { failure: 'tls', detail: 'The server asked for a client certificate (mutual TLS).' },
      ],
    });
    await seedDelivery(service, endpoint, { state: 'delivered', attempts: [{ status: 204 }] });
    const rows = async (query: string) =>
      (await browser.open(`${CONSOLE}/deliveries?${query}`)).html.querySelectorAll('tbody tr').length;
    expect(await rows(`client_id=${client.id}`)).toBe(2);
    expect(await rows(`endpoint_id=${endpoint.id}&state=failed`)).toBe(1);
    expect(await rows(`client_id=${client.id}&state=cancelled`)).toBe(0);
    const path = `${CONSOLE}/deliveries/${id}`;
    const shown = await browser.open(path);
    expect(shown.html.querySelector('dl.facts')!.text).toContain(client.name);
    expect(shown.html.querySelector('tbody')!.text).toContain('<b>broken</b>');
    expect(shown.text).not.toContain('<b>broken');
    expect(shown.html.querySelector('tbody')!.text).toContain('The server asked for a client certificate');
    expect((await submit(`${path}/resend`, {}, path)).status).toBe(303);
    expect(await actionsOn(id)).toEqual(['delivery.resent']);
  });

  it('deliveries say why nothing came back in words, and their addresses break where they have parts', async () => {
    const endpoint = await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/hooks/in_time' });
    const id = await seedDelivery(service, endpoint, {
      state: 'pending',
      attempts: [{ status: null, failure: 'dns', detail: 'No such name.' }],
    });
    const list = await browser.open(`${CONSOLE}/deliveries?endpoint_id=${endpoint.id}`);
    const row = list.html.querySelector('tbody tr')!;
    expect(row.querySelector('[data-head="Last response"]')!.text).toBe('Host name not found (DNS)');
    expect(row.querySelector('[data-head="Endpoint"] a bdi')!.innerHTML).toBe(
      'http://<wbr>127.<wbr>0.<wbr>0.<wbr>1:9/<wbr>hooks/<wbr>in_<wbr>time',
    );
    const page = await browser.open(`${CONSOLE}/deliveries/${id}`);
    expect(page.html.querySelector('[data-head="Response"]')!.text).toContain('Host name not found (DNS)');
  });

  it('notifications are filtered by user and client, and created', async () => {
    const user = await service.make.user();
    const path = `${CONSOLE}/notifications/new`;
    const fields = {
      user_id: user.id,
      message_id: 'ERR42',
      short_text_title: 'Maintenance <b>',
      short_text_body: 'On Sunday.',
    };
    expect((await submit(path, fields)).status).toBe(303);
    const list = await browser.open(`${CONSOLE}/notifications?user_id=${user.id}&client_id=`);
    expect(list.html.querySelector('tbody')!.text).toContain('Maintenance <b>');
    expect(list.text).not.toContain('Maintenance <b>');
  });

  it('scopes are added and updated, but the audience of a scope that is in use cannot change', async () => {
    const path = `${CONSOLE}/scopes/new`;
    const added = { name: 'tariff:read', description: 'See your tariffs' };
    expect((await submit(path, added)).status).toBe(303);
    const edit = `${CONSOLE}/scopes/tariff:read/edit`;
    expect((await submit(edit, { description: 'See what you pay' })).status).toBe(303);
    expect((await browser.open(`${CONSOLE}/scopes`)).text).toContain('See what you pay');
    for (const fields of [
      { ...added, description: 'Something else' },
      { ...added, name: 'vehicle:read', audience: 'operator' },
    ]) {
      const again = await submit(path, fields);
      expect([again.status, again.html.querySelector('#name-error')?.text]).toEqual([
        400,
        expect.stringContaining('taken'),
      ]);
    }
    expect((await browser.open(`${CONSOLE}/scopes`)).text).toContain('See what you pay');
    expect(await actionsOn('tariff:read')).toEqual(['scope.created', 'scope.updated']);
    const held = await submit(`${CONSOLE}/scopes/vehicle:read/edit`, { audience: 'operator' });
    expect([held.status, held.html.querySelector('[role="alert"]')!.text]).toEqual([
      400,
      expect.stringContaining('A client holds this scope'),
    ]);
    expect((await browser.open(`${CONSOLE}/event-types`)).text).toContain('charging_session.created');
  });

  describe('an endpoint', () => {
    const shown = madeOnce(() => service.make.client());
    const endpoint = madeOnce(() => makeEndpoint(service, shown));
    const portal = madeOnce(() => enterPortal(service, shown));

    it.each([
      ['healthy', { enabled: true }, 'Enabled', 'badge-good', ''],
      ['failing since its last success', { enabled: true, failing: true }, 'Failing', 'badge-warn', ''],
      ['disabled by a person', { enabled: false }, 'Disabled', 'badge-plain', ''],
      [
        'disabled after a 410',
        { enabled: false, reason: 'gone' },
        'Disabled by the service',
        'badge-bad',
        ': it responded with “410 Gone”',
      ],
      [
        'disabled after five days of failures',
        { enabled: false, failing: true, reason: 'failing' },
        'Disabled by the service',
        'badge-bad',
        ': it accepted no events for five days',
      ],
    ] as [string, { enabled: boolean; failing?: boolean; reason?: string }, string, string, string][])(
      'has the same label in the portal and in the console: %s',
      async (_what, { enabled, failing = false, reason }, label, badge, why) => {
        await service.database.query(
          `UPDATE webhook_endpoints
            SET enabled = $2, disabled_reason = $3, disabled_at = CASE WHEN NOT $2 THEN now() END,
                failing_since = CASE WHEN $4 THEN now() - interval '1 hour' END
          WHERE id = $1`,
          [endpoint.id, enabled, reason ?? null, failing],
        );
        const labels = [
          [portal, '/portal', label],
          [portal, `/portal/endpoints/${endpoint.id}`, label],
          [browser, `${CONSOLE}/endpoints?client_id=${shown.id}`, label + why],
          [browser, `/admin/console/endpoints/${endpoint.id}`, label + why],
        ] as const;
        for (const [by, path, text] of labels) {
          const found = (await by.open(path)).html.querySelector('main .badge')!;
          expect([path, found.text, found.classList.contains(badge)]).toEqual([path, text, true]);
        }
        const { text } = await portal.open(`/portal/endpoints/${endpoint.id}`);
        expect(text.includes('After five days without a success it is disabled')).toBe(enabled && failing);
      },
    );
  });
});
