import { setUpConsole } from '../support/console.js';
import { isAccepted, madeOnce, type TestClient, useSharedService } from '../support/spec.js';

const CLIENTS = '/admin/console/clients';

describe('In the console, clients', () => {
  const service = useSharedService();
  const { browser, submit, followed, said, actionsOn } = setUpConsole(service);
  const owner = madeOnce(() => service.make.user({ kind: 'organisation', email: 'Owner@Partner.example' }));

  const path = (client: TestClient, part = '') => `${CLIENTS}/${client.id}${part}`;
  const WHOLE = {
    name: 'Northwind',
    owner: 'owner@partner.example',
    type: 'confidential',
    scopes: ['vehicle:read', 'charging_session:read'],
    grant_types: ['authorization_code', 'client_credentials'],
    redirect_uris: 'https://app.example/callback\r\n\r\n https://app.example/other ',
    rate_limit: '50',
  };

  it('are registered, and the secret is shown only once', async () => {
    const page = await followed(await submit(`${CLIENTS}/new`, WHOLE));
    const [id, secret] = page.html.querySelectorAll('dd code').map((code) => code.text);
    const answer = await service.http.token(
      { grant_type: 'client_credentials' },
      { id: id!, secret: secret! },
    );
    expect(answer.status).toBe(200);
    const shown = await browser.open(`${CLIENTS}/${id}`);
    expect(shown.text).not.toContain(secret);
    expect(shown.text).toContain('https://app.example/other');
    expect(shown.html.querySelector(`a[href="/admin/console/users/${owner.id}"]`)).not.toBeNull();
    expect(await actionsOn(id!)).toEqual(['client.created']);
    expect(service.log.join('')).not.toContain(secret);
  });

  it('are found by part of their name and by id, and the page says if there are none', async () => {
    const client = await service.make.client({ name: 'Zebra & <b>Söhne</b>' });
    for (const q of ['bra & <', 'zEbRa', client.id]) {
      const page = await browser.open(`${CLIENTS}?${new URLSearchParams({ q }).toString()}`);
      expect([q, page.html.querySelectorAll('tbody tr')]).toMatchObject([q, { length: 1 }]);
      expect(page.html.querySelector('tbody th a')!.text).toBe('Zebra & <b>Söhne</b>');
    }
    const none = await browser.open(`${CLIENTS}?q=nothing+like+it`);
    expect(none.html.querySelector('.empty')!.text).toBe('No clients match.');
    expect(none.html.querySelector('input[name="q"]')!.getAttribute('value')).toBe('nothing like it');
  });

  it('are listed in pages that keep the search', async () => {
    for (let n = 0; n < 3; n++) await service.make.client({ name: `Paged ${n}`, ownerId: owner.id });
    const first = await browser.open(`${CLIENTS}?q=paged&page_size=2`);
    expect(first.html.querySelectorAll('tbody tr')).toHaveLength(2);
    const next = first.html.querySelector('a[rel="next"]')!.getAttribute('href')!.replaceAll('&amp;', '&');
    const second = await browser.open(`${next}&page_size=2`);
    expect(second.html.querySelectorAll('tbody tr')).toHaveLength(1);
    expect(second.html.querySelector('a[rel="prev"]')).not.toBeNull();
  });

  it('are updated', async () => {
    const client = await service.make.client({ name: 'Before' });
    const edit = path(client, '/edit');
    expect(await said(await submit(edit, { name: 'After', rate_limit: '7' }))).toBe('Client updated.');
    const shown = await browser.open(path(client));
    expect(shown.html.querySelector('h1')!.text).toBe('After');
    expect(shown.text).toContain('7 for each user');
    expect(await actionsOn(client.id)).toEqual(['client.updated']);
  });

  it('are updated by a form that leaves as it is what others have changed since it was opened', async () => {
    const client = await service.make.client({
      redirectUris: ['https://app.example/a', 'https://app.example/b'],
    });
    const page = await browser.open(path(client, '/edit'));
    const redirectUris = ['https://app.example/b', 'https://app.example/c'];
    await service.make.updateClient(client, { redirectUris, gatekeeper: true });
    const saved = await browser.submit(page, path(client, '/edit'), { description: 'Mine' });
    expect(await said(saved)).toBe('Client updated.');
    const [row] = await service.database.query(
      'SELECT redirect_uris, gatekeeper, description FROM clients WHERE id = $1',
      [client.id],
    );
    expect(row).toEqual({ redirect_uris: redirectUris, gatekeeper: true, description: 'Mine' });
  });

  it('have a description for operators, in the admin API, the console and the audit log', async () => {
    const bearer = await service.make.clientToken(await service.make.operatorClient());
    const body = {
      name: 'Described',
      type: 'public',
      owner_id: owner.id,
      grant_types: ['authorization_code'],
      scopes: ['vehicle:read'],
      redirect_uris: ['https://app.example/callback'],
    };
    const create = (description: unknown) =>
      service.http.send('/admin/clients', { json: { ...body, description }, bearer });
    for (const refused of ['x'.repeat(501), 'two\nlines', null, 7]) {
      const { status, json } = await create(refused);
      expect([refused, status, json.field_errors]).toMatchObject([
        refused,
        400,
        { description: [expect.any(String)] },
      ]);
    }
    const made = await create('é'.repeat(500));
    expect([made.status, made.json.description]).toEqual([201, 'é'.repeat(500)]);
    expect((await create(undefined)).json.description).toBe('');
    const id = made.json.client_id as string;
    const api = `/admin/clients/${id}`;
    const patched = await service.http.send(api, {
      method: 'PATCH',
      json: { description: 'Ask <Mia>' },
      bearer,
    });
    expect([patched.status, patched.json.description]).toEqual([200, 'Ask <Mia>']);
    expect((await browser.open(`${CLIENTS}/${id}`)).html.querySelector('dl')!.text).toContain('Ask <Mia>');

    const edit = await browser.open(`${CLIENTS}/${id}/edit`);
    expect(edit.html.querySelector('label[for="description"]')!.text).toBe('Description');
    expect(edit.html.querySelector('#description')!.getAttribute('value')).toBe('Ask <Mia>');
    await submit(`${CLIENTS}/${id}/edit`, { description: 'x'.repeat(501) });
    expect(await said(await submit(`${CLIENTS}/${id}/edit`, { description: '' }))).toBe('Client updated.');
    expect((await service.http.get(api, { bearer })).json.description).toBe('');
    const events = await service.database.query(
      "SELECT after->>'description' AS description FROM audit_events WHERE subject_id = $1 ORDER BY id",
      [id],
    );
    expect(events).toEqual([
      { description: 'é'.repeat(500) },
      { description: 'Ask <Mia>' },
      { description: '' },
    ]);
  });

  it('get a new secret, while the old one stays valid for the chosen time', async () => {
    const client = await service.make.client();
    const secret = path(client, '/secret');
    const page = await followed(await submit(secret, { expire_previous_in: '3600' }));
    const renewed = page.html.querySelector('code.secret')!.text;
    expect(page.text).toContain('valid until');
    for (const each of [client.secret, renewed]) {
      const answer = await service.http.token(
        { grant_type: 'client_credentials' },
        { id: client.id, secret: each },
      );
      expect(answer.status).toBe(200);
    }
    const token = await service.make.clientToken({ ...client, secret: renewed });
    expect((await browser.open(secret)).text).toContain('stay valid until “Revoke all tokens”');
    await submit(secret, { expire_previous_in: '0' });
    expect(await isAccepted(service.http, token)).toBe(true);
    const states = (await browser.open(path(client))).html
      .querySelectorAll('tbody .badge')
      .map(({ text }) => text);
    expect(states).toEqual(['Active', 'Expired', 'Expired']);
    expect(await actionsOn(client.id)).toEqual(['client.secret_rotated', 'client.secret_rotated']);
  });

  it('show in which hour each of their secrets was last used, because no more is known', async () => {
    const client = await service.make.client();
    const used = async () =>
      (await browser.open(path(client))).html
        .querySelectorAll('td[data-head="Last used"] .cell')
        .map((cell) => cell.text);
    expect(await used()).toEqual(['not yet']);
    await service.database.query(
      `INSERT INTO client_secret_uses (client_id, digest, last_used_at)
       SELECT client_id, digest, '2026-01-02T03:00Z' FROM client_secrets WHERE client_id = $1`,
      [client.id],
    );
    expect(await used()).toEqual(['2 Jan 2026, between 03:00 and 04:00 UTC']);
    await service.database.query(
      `UPDATE client_secret_uses SET last_used_at = date_trunc('hour', now(), 'UTC') WHERE client_id = $1`,
      [client.id],
    );
    expect((await used())[0]).toMatch(/^(today, )?.*between \d\d:00 and \d\d:00 UTC$/);
  });

  it('have no secret to rotate if they are public', async () => {
    const page = await browser.open(path(await service.make.client({ type: 'public' }), '/secret'));
    expect(page.html.querySelector('form.console-form')).toBeNull();
    expect(page.text).toContain('has no secret');
  });

  it('are disabled and enabled, after the page has said what that ends', async () => {
    const client = await service.make.client();
    const tokens = await service.make.tokens(client, await service.make.user());
    const ask = await browser.open(path(client, '/disable'));
    expect(ask.html.querySelector('main')!.text).toContain('one user grant');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    expect(await said(await submit(path(client, '/disable')))).toContain('disabled');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect(await said(await submit(path(client, '/enable'), {}, path(client)))).toContain('enabled');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect(await actionsOn(client.id)).toEqual(['client.updated', 'client.updated']);
  });

  it.each([
    ['are deleted', 'delete', 'client.deleted', 404],
    ['lose all tokens', 'revoke', 'client.tokens_revoked', 200],
  ])('%s', async (_what, part, action, status) => {
    const client = await service.make.client();
    const token = await service.make.clientToken(client);
    await submit(path(client, `/${part}`));
    expect((await browser.open(path(client))).status).toBe(status);
    expect(await isAccepted(service.http, token)).toBe(false);
    expect(await actionsOn(client.id)).toEqual([action]);
  });

  it('show who shares data with them, can have a consent recorded, and can be disconnected from a user', async () => {
    const client = await service.make.client();
    const user = await service.make.user({ name: 'Dana Driver' });
    const consents = path(client, '/consents');
    expect((await browser.open(consents)).html.querySelector('.empty')!.text).toContain('No user shares');
    const recorded = await submit(`${consents}/new`, {
      user: user.email,
      scopes: ['vehicle:read'],
      evidence: 'Contract 7',
    });
    expect(await said(recorded)).toContain('recorded');
    expect((await browser.open(consents)).html.querySelector('tbody tr')!.text).toContain('Dana Driver');
    const lists = [consents, `/admin/console/users/${user.id}/applications`];
    const ends = async () => {
      const pages = [await browser.open(lists[0]!), await browser.open(lists[1]!)];
      return pages.map(({ html }) => html.querySelector('td[data-head="Ends"] .cell')?.innerHTML);
    };
    // The list of a client has the column once one ends.
    expect(await ends()).toEqual([undefined, 'never']);
    const at = '2099-03-01T08:00:00.000Z';
    await service.database.query('UPDATE consents SET expires_at = $1 WHERE client_id = $2', [at, client.id]);
    expect(await ends()).toEqual([
      expect.stringContaining(`datetime="${at}"`),
      expect.stringContaining(`datetime="${at}"`),
    ]);
    const tokens = await service.make.tokens(client, user);
    expect((await browser.open(path(client, '/grants'))).html.querySelectorAll('tbody tr')).toHaveLength(1);
    const disconnect = `${consents}/${user.id}/disconnect`;
    expect(await said(await submit(disconnect))).toContain('disconnected');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect((await browser.open(disconnect)).status).toBe(404);
  });

  it('show their active grants, and revoking one ends its tokens', async () => {
    const client = await service.make.client();
    const tokens = await service.make.tokens(client, await service.make.user());
    const grants = path(client, '/grants');
    const page = await browser.open(grants);
    const action = page.html.querySelector('form.in-row')!.getAttribute('action')!;
    const answer = await browser.submit(page, action);
    expect(answer.headers.get('location')).toBe(grants);
    expect(await said(answer)).toContain('revoked');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect((await browser.submit(page, action, { return_to: 'https://evil.example/' })).status).toBe(404);
  });
});
