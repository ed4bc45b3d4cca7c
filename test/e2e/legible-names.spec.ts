import { authorizePath, BrowserSession } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { enterPortal, madeOnce, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { listOf } from '../support/list-of.js';

/** Displayed as exegnp.exe. */
const DECEPTIVE = 'exe\u202eexe.png';
const MESSAGE = 'must not contain control, bidirectional or invisible characters, such as U+202E';

const service = useSharedService({ env: WEBHOOK_ENV });
let admin: string;

const user = madeOnce(() => service.make.user());
const client = madeOnce(() => service.make.client());
beforeAll(async () => (admin = await service.make.adminToken()));

const write = (method: string, path: string, json: object) =>
  service.http.send(path, { method, bearer: admin, json });

describe('A name with bidirectional or invisible characters is refused', () => {
  const notification = () => ({
    user_id: user.id,
    message_id: 'ERR1',
    category: 'SERVICE',
    short_text_title: 'x',
    short_text_body: 'x',
  });
  const webhook = { url: 'http://127.0.0.1:9/', event_types: ['webhook.test'] };
  const requests: [method: string, path: () => string, json: () => object, members: string[]][] = [
    ['POST', () => '/admin/users', () => ({ email: 'a@names.example', name: 'x' }), ['name', 'email']],
    ['PATCH', () => `/admin/users/${user.id}`, () => ({}), ['name', 'email']],
    [
      'POST',
      () => '/admin/clients',
      () => ({
        name: 'x',
        type: 'confidential',
        grant_types: ['client_credentials'],
        scopes: ['vehicle:read'],
        owner_id: user.id,
      }),
      ['name'],
    ],
    ['PATCH', () => `/admin/clients/${client.id}`, () => ({}), ['name']],
    [
      'PUT',
      () => `/admin/clients/${client.id}/consents/${user.id}`,
      () => ({ scopes: ['vehicle:read'] }),
      ['evidence'],
    ],
    [
      'PUT',
      () => '/admin/scopes/new:read',
      () => ({ description: 'x', audience: 'partner' }),
      ['description'],
    ],
    ['POST', () => `/admin/clients/${client.id}/webhook_endpoints`, () => webhook, ['description']],
    [
      'POST',
      () => '/admin/notifications',
      notification,
      listOf(`
        short_text_title, short_text_body, detail_page_title, detail_page_body, external_button_label
      `),
    ],
  ];

  it('by the admin API, with an error for the member', async () => {
    for (const [method, path, json, members] of requests) {
      for (const member of members) {
        const value = member === 'email' ? 'a\u202eb@names.example' : DECEPTIVE;
        const answer = await write(method, path(), { ...json(), [member]: value });
        const { field_errors: errors } = answer.json as { field_errors?: object };
        expect([method, path(), answer.status, errors]).toEqual([
          method,
          path(),
          400,
          { [member]: [MESSAGE] },
        ]);
      }
    }
  });

  it('when an endpoint is changed, and in the portal, next to the field', async () => {
    const made = await write('POST', `/admin/clients/${client.id}/webhook_endpoints`, webhook);
    const id = made.json.id as string;
    const answer = await write('PATCH', `/admin/webhook_endpoints/${id}`, { description: DECEPTIVE });
    expect([answer.status, answer.json.field_errors]).toEqual([400, { description: [MESSAGE] }]);
    const portal = await enterPortal(service, client);
    const path = '/portal/endpoints/new';
    const page = await portal.submit(await portal.open(path), path, {
      url: 'http://127.0.0.1:9/',
      description: DECEPTIVE,
      event_types: 'webhook.test',
    });
    expect([page.status, page.html.querySelector('#description-error')?.text]).toEqual([
      400,
      expect.stringContaining('U+202E'),
    ]);
  });

  it('by the forms of the console, next to the field', async () => {
    const operator = await service.make.signedInNew({ role: 'operator' });
    const path = `/admin/console/users/${user.id}/edit`;
    const page = await operator.submit(await operator.open(path), path, { name: DECEPTIVE });
    expect([page.status, page.text.includes('U+202E')]).toEqual([400, true]);
  });

  it('except for line breaks and tabs in fields with several lines', async () => {
    const answer = await write('POST', '/admin/notifications', {
      ...notification(),
      short_text_body: 'One.\r\nTwo.',
      detail_page_body: 'One.\n\tTwo.',
    });
    expect(answer.status).toBe(201);
  });
});

describe('A deceptive name that is already stored', () => {
  beforeAll(async () => {
    await service.database.query('UPDATE clients SET name = $2 WHERE id = $1', [client.id, DECEPTIVE]);
    await service.database.query('UPDATE users SET name = $2 WHERE id = $1', [client.ownerId, DECEPTIVE]);
  });
  const request = () =>
    authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });

  it('is spelled out, isolated from the surrounding text, where a person is asked to trust it', async () => {
    const spelled = 'exe[U+202E]exe.png';
    const browser = new BrowserSession(service.url);
    const login = await browser.open((await browser.open(request())).headers.get('location')!);
    expect(login.html.querySelector('.lead bdi')!.text).toBe(spelled);
    await browser.logIn(user.email, PASSWORD);
    const consent = await browser.open(request());
    expect(consent.html.querySelector('h1 bdi')!.text).toBe(spelled);
    const { url } = (
      await service.http.get('/webhook_portal', { bearer: await service.make.clientToken(client) })
    ).json as { url: string };
    const link = await browser.open(new URL(url).pathname);
    expect(link.html.querySelectorAll('p bdi').map(({ text }) => text)).toEqual([spelled, spelled]);
    for (const page of [login, consent, link]) expect(page.text).not.toContain('\u202e');
  });

  it('is isolated from the surrounding text in lists', async () => {
    const operator = await service.make.signedInNew({ role: 'operator' });
    await service.make.consent(client, user);
    const browser = await service.make.signedIn(user);
    for (const page of [
      await operator.open('/admin/console/clients?q=exe'),
      await operator.open('/admin/console/users?q=exe'),
      await browser.open('/account'),
    ]) {
      const shown = page.html.querySelectorAll('bdi').filter(({ text }) => text.includes('\u202e'));
      expect([page.status, shown.length]).toEqual([200, 1]);
    }
  });
});
