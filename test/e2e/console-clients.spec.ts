import type { BrowserSession, Page } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { madeOnce } from '../support/made.js';
import { isAccepted } from '../support/oauth.js';
import { useSharedService } from '../support/test-service.js';

const CLIENTS = '/admin/console/clients';

describe('In the console, clients', () => {
  const service = useSharedService();
  let browser: BrowserSession;

  const operator = madeOnce(() => service.make.user({ role: 'operator' }));
  const owner = madeOnce(() => service.make.user({ kind: 'organisation', email: 'Owner@Partner.example' }));
  beforeEach(async () => (browser = await service.make.signedIn(operator)));

  const submit = async (
    path: string,
    fields: Record<string, string | string[] | undefined> = {},
    from = path,
  ): Promise<Page> => browser.submit(await browser.open(from), path, fields);
  const followed = (answer: Page): Promise<Page> => {
    expect(answer.status).toBe(303);
    return browser.open(answer.headers.get('location')!);
  };
  const path = (client: TestClient, part = ''): string => `${CLIENTS}/${client.id}${part}`;
  const said = async (answer: Page): Promise<string | undefined> => {
    expect(answer.status).toBe(303);
    return (await browser.open(answer.headers.get('location')!)).html.querySelector('[role="status"]')?.text;
  };
  const auditLog = (id: string): Promise<Record<string, unknown>[]> =>
    service.database.query(
      `SELECT action, actor_type, actor_id = $2 AS own, address IS NOT NULL AS addressed, request_id IS NOT NULL AS requested
         FROM audit_events WHERE subject_id = $1 AND actor_id = $2 ORDER BY id`,
      [id, operator.id],
    );
  const done = (action: string) => ({
    action,
    actor_type: 'user',
    own: true,
    addressed: true,
    requested: true,
  });
  const ageSession = () => service.make.ageSessions(operator);

  const WHOLE = {
    name: 'Northwind',
    owner: 'owner@partner.example',
    type: 'confidential',
    scopes: ['vehicle:read', 'charging_session:read'],
    grant_types: ['authorization_code', 'client_credentials'],
    redirect_uris: 'https://app.example/callback\r\n\r\n https://app.example/other ',
    rate_limit: '50',
    trusted: undefined,
  };

  describe('are not registered', () => {
    it.each([
      ['without a name', { name: ' ' }, 'name', 'Enter 1 to 100 characters.'],
      ['for an unknown owner', { owner: 'nobody@mail.example' }, 'owner', 'No user has this'],
      ['for a malformed owner', { owner: 'x' }, 'owner', 'No user has this email or ID.'],
      [
        'with a rate limit in words',
        { rate_limit: 'many' },
        'rate_limit',
        'whole number from 1 to 1,000,000,000, or nothing.',
      ],
      ['without a scope', { scopes: [] }, 'scopes', 'Choose 1 to 20 of these.'],
      ['without a grant type', { grant_types: [] }, 'grant_types', 'Choose at least one of these.'],
      [
        'with a redirect URI over http',
        { redirect_uris: 'http://app.example' },
        'redirect_uris',
        'must be https',
      ],
      ['as an unknown type', { type: 'other' }, 'type', 'Choose one of these.'],
    ])(
      '%s: the error is next to the field, and the page keeps what was typed',
      async (_what, wrong, field, words) => {
        const page = await submit(`${CLIENTS}/new`, { ...WHOLE, ...wrong });
        expect(page.status).toBe(400);
        expect(page.html.querySelector('[role="alert"]')!.text).toContain('Nothing was changed');
        const error = page.html.querySelector(`#${field}-error`)!;
        expect(error.text).toContain(words);
        expect(
          page.html.querySelector(`[aria-describedby~="${field}-error"]`)!.getAttribute('aria-invalid'),
        ).toBe('true');
        expect(page.html.querySelectorAll('.field-error')).toHaveLength(1);
        if (field !== 'redirect_uris') {
          expect(page.html.querySelector('#redirect_uris')!.textContent).toContain(
            'https://app.example/other',
          );
        }
      },
    );
  });

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
    expect(await auditLog(id!)).toEqual([done('client.created')]);
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
    const wrong = await submit(edit, { name: '' });
    expect([wrong.status, wrong.html.querySelectorAll('.field-error').length]).toEqual([400, 1]);
    expect(await said(await submit(edit, { name: 'After', rate_limit: '7' }))).toBe('Client updated.');
    const shown = await browser.open(path(client));
    expect(shown.html.querySelector('h1')!.text).toBe('After');
    expect(shown.text).toContain('7 for each user');
    expect(await auditLog(client.id)).toEqual([done('client.updated')]);
  });

  it('get a new secret, while the old one stays valid for the chosen time', async () => {
    const client = await service.make.client();
    const secret = path(client, '/secret');
    expect((await submit(secret, { expire_previous_in: 'x' })).status).toBe(400);
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
    await submit(secret, { expire_previous_in: '0' });
    const states = (await browser.open(path(client))).html
      .querySelectorAll('tbody .badge')
      .map(({ text }) => text);
    expect(states).toEqual(['Active', 'Expired', 'Expired']);
    expect(await auditLog(client.id)).toEqual([done('client.secret_rotated'), done('client.secret_rotated')]);
  });

  it('have no secret to rotate if they are public', async () => {
    const client = await service.make.client({ type: 'public' });
    const page = await browser.open(path(client, '/secret'));
    expect(page.html.querySelector('form.console-form')).toBeNull();
    expect(page.text).toContain('has no secret');
  });

  it('are disabled and enabled, after the page has said what that ends', async () => {
    const client = await service.make.client();
    const user = await service.make.user();
    const tokens = await service.make.tokens(client, user);
    const ask = await browser.open(path(client, '/disable'));
    expect(ask.html.querySelector('main')!.text).toContain('one user grant');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    expect(await said(await submit(path(client, '/disable')))).toContain('disabled');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect(await said(await submit(path(client, '/enable'), {}, path(client)))).toContain('enabled');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect(await auditLog(client.id)).toEqual([done('client.updated'), done('client.updated')]);
  });

  it.each([
    ['delete', 'client.deleted', 404],
    ['revoke', 'client.tokens_revoked', 200],
  ])('require a recently confirmed password: %s', async (part, action, status) => {
    const client = await service.make.client();
    const token = await service.make.clientToken(client);
    const target = path(client, `/${part}`);
    const form = await browser.open(target);
    expect(form.status).toBe(200);
    await ageSession();
    const confirm = `/admin/console/confirm-password?${new URLSearchParams({ return_to: target }).toString()}`;
    for (const answer of [await browser.open(target), await browser.submit(form, target)]) {
      expect([answer.status, answer.headers.get('location')]).toEqual([303, confirm]);
    }
    expect(await isAccepted(service.http, token)).toBe(true);
    browser = await service.make.signedIn(operator);
    await submit(target);
    expect((await browser.open(path(client))).status).toBe(status);
    expect(await isAccepted(service.http, token)).toBe(false);
    expect(await auditLog(client.id)).toEqual([done(action)]);
  });

  it('show who shares data with them, can have a consent recorded, and can be disconnected from a user', async () => {
    const client = await service.make.client();
    const user = await service.make.user({ name: 'Dana Driver' });
    const consents = path(client, '/consents');
    expect((await browser.open(consents)).html.querySelector('.empty')!.text).toContain('No user shares');
    const wrong = await submit(`${consents}/new`, { user: 'nobody@mail.example', scopes: ['vehicle:read'] });
    expect(wrong.html.querySelector('#user-error')!.text).toBe('No user has this email or ID.');
    const recorded = await submit(`${consents}/new`, {
      user: user.email,
      scopes: ['vehicle:read'],
      evidence: 'Contract 7',
    });
    expect(await said(recorded)).toContain('recorded');
    const listed = await browser.open(consents);
    expect(listed.html.querySelector('tbody tr')!.text).toContain('Dana Driver');
    const tokens = await service.make.tokens(client, user);
    const grants = await browser.open(path(client, '/grants'));
    expect(grants.html.querySelectorAll('tbody tr')).toHaveLength(1);
    const disconnect = `${consents}/${user.id}/disconnect`;
    expect(await said(await submit(disconnect))).toContain('disconnected');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect((await browser.open(disconnect)).status).toBe(404);
  });

  it('show their active grants, and revoking one ends its tokens', async () => {
    const client = await service.make.client();
    const user = await service.make.user();
    const tokens = await service.make.tokens(client, user);
    const grants = path(client, '/grants');
    const page = await browser.open(grants);
    const action = page.html.querySelector('form.in-row')!.getAttribute('action')!;
    const answer = await browser.submit(page, action);
    expect(answer.headers.get('location')).toBe(grants);
    expect(await said(answer)).toContain('revoked');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    const again = await browser.submit(page, action, { return_to: 'https://evil.example/' });
    expect(again.status).toBe(404);
  });
});
