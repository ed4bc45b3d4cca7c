import { ClientsService } from '#access/clients/clients.service.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { madeOnce, makeEndpoint, type Page, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { CONSOLE, type Fields } from '../support/console.js';
import { API_WORDS, errorsIn, expectPlainErrors } from '../support/plain-words.js';
import { listOf } from '../support/list-of.js';

describe('The forms of the console', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  const browser = madeOnce(() => service.make.signedInNew({ role: 'operator' }));
  const user = madeOnce(() => service.make.user());
  const client = madeOnce(() => service.make.client());
  const endpoint = madeOnce(() => makeEndpoint(service, client));

  const fill = (path: string) =>
    CONSOLE + path.replace(':client', client.id).replace(':user', user.id).replace(':endpoint', endpoint.id);
  const submit = async (path: string, fields: Fields) =>
    browser.submit(await browser.open(fill(path)), fill(path), fields);

  /** What is wrong in each form, and how its error begins or what is in it. */
  const WRONG: Record<string, { fields: Fields; errors: Record<string, string> }> = {
    '/clients/new': {
      fields: {
        name: '',
        owner: 'nobody',
        type: 'other',
        scopes: [],
        grant_types: [],
        redirect_uris: 'http://app.example/callback',
        rate_limit: 'many',
      },
      errors: {
        name: 'Enter 1 to 100 characters.',
        owner: 'No user has this email or ID.',
        type: 'Choose one of these.',
        scopes: 'Choose 1 to 20 of these.',
        grant_types: 'Choose at least one of these.',
        redirect_uris: 'must be https',
        rate_limit: 'whole number from 1 to 1,000,000,000, or nothing.',
      },
    },
    '/clients/:client/edit': {
      fields: { name: ' ', grant_types: ['refresh_token'], redirect_uris: 'ftp://x', rate_limit: '0' },
      errors: { name: 'Enter', grant_types: '', redirect_uris: '', rate_limit: '' },
    },
    '/clients/:client/secret': { fields: { expire_previous_in: 'x' }, errors: { expire_previous_in: '' } },
    '/clients/:client/consents/new': {
      fields: { user: 'nobody@mail.example', scopes: [], evidence: 'x'.repeat(2001) },
      errors: { user: 'No user has this email or ID.', scopes: '', evidence: '' },
    },
    '/clients/:client/endpoints/new': {
      fields: { url: '', description: 'x'.repeat(201), event_types: [] },
      errors: { url: '', description: '', event_types: '' },
    },
    '/endpoints/:endpoint/edit': {
      fields: { url: 'ftp://x', event_types: ['nothing.happened'] },
      errors: { url: '', event_types: '' },
    },
    '/users/new': {
      fields: { email: 'x', name: '', kind: 'robot' },
      errors: { email: 'email', name: 'Enter 1 to 200 characters.', kind: 'Choose one of these.' },
    },
    '/users/:user/edit': { fields: { email: 'x', name: '' }, errors: { email: '', name: '' } },
    '/scopes/new': {
      fields: { name: 'Not a name', description: '', audience: 'other' },
      errors: { name: '', description: '', audience: '' },
    },
    '/notifications/new': {
      fields: {
        user_id: 'x',
        client_id: 'x',
        message_id: '42',
        category: 'OTHER',
        short_text_title: '',
        short_text_body: '',
        external_link: 'javascript:alert(1)',
      },
      errors: {
        user_id: '',
        client_id: '',
        message_id: '',
        category: '',
        short_text_title: '',
        short_text_body: '',
        external_link: '',
      },
    },
  };

  it.each(Object.entries(WRONG))(
    'show all errors at once beside the fields, in plain words, and keep what was typed: %s',
    async (path, { fields, errors }) => {
      const page = await submit(path, fields);
      expectPlainErrors(page, Object.keys(errors));
      expect(page.html.querySelector('[role="alert"]')!.text).toContain('See the errors below');
      for (const [name, words] of Object.entries(errors)) {
        const field = page.html.querySelector(`[aria-describedby~="${name}-error"]`)!;
        const said = [field.getAttribute('aria-invalid'), errorsIn(page)[name]];
        expect([name, ...said]).toEqual([name, 'true', expect.stringContaining(words)]);
        if (!/^(INPUT|TEXTAREA)$/.test(field.tagName)) continue;
        const kept = field.tagName === 'TEXTAREA' ? field.textContent : (field.getAttribute('value') ?? '');
        expect([name, kept.trim()]).toEqual([name, (fields[name] as string).trim()]);
      }
    },
  );

  it.each(
    listOf(`
    /clients/:client/edit, /users/:user/edit, /endpoints/:endpoint/edit, /brand/edit,
    /scopes/vehicle:read/edit, /purposes/form_purpose/edit, /event-types/vehicle.updated/edit
  `),
  )('that do not say what they showed replace nothing that they have not shown: %s', async (path) => {
    await service.app.get(PurposesService).put('form_purpose', { en: 'To test forms' }, SERVICE_ACTOR);
    const page = await browser.open(fill(path));
    const audited = () => service.database.query('SELECT id FROM audit_events ORDER BY id');
    const before = await audited();
    const typed = { description: 'Other words', name: 'Another', support_email: 'a@mail.example' };
    const answer = await browser.submit(page, fill(path), {
      ...typed,
      'words.en': 'Other',
      shown: undefined,
    });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('The form is incomplete.')]);
    expect(await audited()).toEqual(before);
    expect((await browser.submit(page, fill(path))).status).toBe(303);
  });

  it('say so when no user has the given id', async () => {
    const page = await submit('/notifications/new', {
      user_id: 'user01HN2NJ9NMRZBXT1H6FT9N7735',
      message_id: 'ERR1',
      category: 'SERVICE',
      short_text_title: 'A title',
      short_text_body: 'A text',
    });
    expect(errorsIn(page)).toEqual({ user_id: 'No user has this ID.' });
  });

  it.each([
    ['/deliveries', { client_id: 'clnt-typed', endpoint_id: 'endp-typed', state: 'failed' }],
    ['/endpoints', { client_id: 'clnt-typed', state: 'disabled' }],
    ['/notifications', { user_id: 'user-typed', client_id: 'clnt-typed' }],
    ['/audit', { actor: 'typed-actor', subject: 'typed-subject', action: 'a.b', since: 'yesterday' }],
    ['/clients', { q: 'typed '.repeat(40).trim() }],
    ['/users', { q: 'typed '.repeat(40).trim() }],
  ])('keep what was typed into an invalid filter: %s', async (path, typed) => {
    const page = await browser.open(`${CONSOLE}${path}?${new URLSearchParams(typed).toString()}`);
    expect(page.status).toBe(400);
    const form = page.html.querySelector('form.filters')!;
    for (const [name, value] of Object.entries(typed)) {
      const field = form.querySelector(`[name="${name}"]`)!;
      const shown =
        field.tagName === 'SELECT'
          ? field.querySelector('option[selected]')?.getAttribute('value')
          : field.getAttribute('value');
      expect([name, shown]).toEqual([name, value]);
    }
    expect(page.html.querySelector('[role="alert"]')!.text).toContain('the filter is invalid');
    const said = Object.values(errorsIn(page));
    expect(said.length).toBeGreaterThan(0);
    for (const text of said) expect(text).not.toMatch(API_WORDS);
  });

  it('offer names for ids, with the id as the value, unless there are too many', async () => {
    // Other files may have made so many that none are offered.
    const { app } = service;
    jest.spyOn(app.get(UsersService), 'firstNames').mockResolvedValue([user]);
    const ofEndpoint = [{ id: endpoint.id, name: endpoint.url }];
    jest.spyOn(app.get(EndpointsService), 'firstNames').mockResolvedValue(ofEndpoint);
    const names = jest
      .spyOn(app.get(ClientsService), 'firstNames')
      .mockResolvedValue([{ ...client, environment: 'live' }]);
    const offered = async (path: string): Promise<Record<string, string[]>> => {
      const { html } = await browser.open(fill(path));
      // The first of a select is “Any”; those of states are named after a word.
      const selects = html.querySelectorAll('.filters select:not([name="state"]):not([name="category"])');
      const lists = [...html.querySelectorAll('input[list]'), ...selects].map((field) => {
        const list = field.getAttribute('list');
        const options = list
          ? html.querySelectorAll(`#${list} option`)
          : field.querySelectorAll('option[value]:not([value=""])');
        return [
          field.getAttribute('name')!,
          options.map((each) => `${each.getAttribute('value')} ${each.text}`),
        ];
      });
      return Object.fromEntries(lists) as Record<string, string[]>;
    };
    const [theClient, theUser, theEndpoint] = [
      expect.arrayContaining([`${client.id} ${client.name}`]),
      expect.arrayContaining([`${user.id} ${user.name}`]),
      expect.arrayContaining([`${endpoint.id} ${endpoint.url}`]),
    ];
    const theType = expect.arrayContaining(['vehicle.updated vehicle.updated']);
    const fields: Record<string, object> = {
      '/deliveries': { client_id: theClient, endpoint_id: theEndpoint, type: theType },
      '/endpoints': { client_id: theClient },
      '/mails': { user_id: theUser },
      '/notifications': { user_id: theUser, client_id: theClient },
      '/notifications/new': { user_id: theUser, client_id: theClient },
      '/redirect-uris': { client_id: theClient },
      '/clients/new': { owner: theUser },
      '/clients/:client/consents/new': { user: theUser },
      '/users/:user/members/new': { user: theUser },
    };
    for (const [path, expected] of Object.entries(fields))
      expect([path, await offered(path)]).toEqual([path, expected]);
    const many = Array.from({ length: 201 }, (_, n) => ({
      id: `clnt${n}`,
      name: `Client ${n}`,
      environment: 'live' as const,
    }));
    names.mockResolvedValueOnce(many.slice(0, 200)).mockResolvedValueOnce(many);
    expect((await offered('/endpoints'))['client_id']).toHaveLength(200);
    expect(await offered('/endpoints')).toEqual({});
    expect(names).toHaveBeenCalledWith(201);
  });

  it('of filters pick a client and an endpoint by name, and say which are in a sandbox', async () => {
    const { app } = service;
    const sandboxed = {
      id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
      name: client.name,
      environment: 'sandbox',
    } as const;
    jest
      .spyOn(app.get(ClientsService), 'firstNames')
      .mockResolvedValue([sandboxed, { id: client.id, name: client.name, environment: 'live' }]);
    jest
      .spyOn(app.get(EndpointsService), 'firstNames')
      .mockResolvedValue([{ id: endpoint.id, name: endpoint.url }]);
    const optionsOf = (page: Page, name: string) =>
      page.html
        .querySelectorAll(`.filters select[name="${name}"] option`)
        .map((option) => [
          option.getAttribute('value'),
          option.text,
          option.getAttribute('selected') !== undefined,
        ]);
    const unknown = 'endp01HN2NJ9NMRZBXT1H6FT9N7735';
    const page = await browser.open(`${CONSOLE}/deliveries?client_id=${client.id}&endpoint_id=${unknown}`);
    expect(optionsOf(page, 'client_id')).toEqual([
      ['', 'Any', false],
      [client.id, client.name, true],
      [sandboxed.id, `${client.name} (sandbox)`, false],
    ]);
    // What the address asks for stays chosen, also if it is not offered.
    expect(optionsOf(page, 'endpoint_id')).toEqual([
      ['', 'Any', false],
      [endpoint.id, endpoint.url, false],
      [unknown, unknown, true],
    ]);
  });

  it('of filters say in words what they show, and mark the ready filter that is chosen', async () => {
    const state = async (path: string) => {
      const { html } = await browser.open(`${CONSOLE}${path}`);
      return {
        words: html.querySelectorAll('.filter-word').map(({ text }) => text),
        chosen: html.querySelectorAll('nav.switch [aria-current]').map(({ text }) => text),
        isOpen: html.querySelector('.filter')!.hasAttribute('open'),
      };
    };
    expect(await state('/deliveries')).toEqual({ words: [], chosen: ['Everything'], isOpen: false });
    expect(await state('/deliveries?state=failed')).toEqual({
      words: ['State: Failed'],
      chosen: ['Failed'],
      isOpen: false,
    });
    expect(await state(`/deliveries?state=failed&client_id=${client.id}`)).toEqual({
      words: [`Client: ${client.name}`, 'State: Failed'],
      chosen: [],
      isOpen: false,
    });
    expect(await state('/audit?since=yesterday')).toMatchObject({ isOpen: true });
  });

  it.each(['/clients/:client/disable', '/clients/:client/revoke', '/clients/:client/delete'])(
    'describe an action in natural words when nothing depends on the client: %s',
    async (path) => {
      const page = await browser.open(fill(path.replace(':client', (await service.make.client()).id)));
      expect(page.html.querySelector('main')!.text).not.toMatch(/\b(no|0) (grant|user|endpoint)\b/);
    },
  );

  it.each(['disable', 'revoke', 'erase'])(
    'describe an action in natural words when nothing depends on the user: /users/:user/%s',
    async (part) => {
      const page = await browser.open(fill(`/users/:user/${part}`));
      expect(page.html.querySelector('main')!.text).not.toMatch(/: no grant|\band no grant/);
    },
  );

  describe('at an address without a page', () => {
    it.each(['/nowhere', '/users/user01HN2NJ9NMRZBXT1H6FT9N7735', '/clients/x/nowhere/at/all'])(
      'keep an operator in the console: %s',
      async (path) => {
        const page = await browser.open(CONSOLE + path);
        expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
        expect(
          page.html.querySelector('nav[aria-label="Console"] a[href="/admin/console/clients"]'),
        ).not.toBeNull();
        expect(page.text).not.toContain('for drivers');
        expect(page.html.querySelector('code.id')!.text).toBe(page.headers.get('x-request-id'));
      },
    );

    it('answer GET with a page and an Allow header if only POST is allowed', async () => {
      const page = await browser.open(fill('/users/:user/enable'));
      expect([page.status, page.headers.get('allow')]).toEqual([405, 'POST']);
      expect(page.html.querySelector('nav[aria-label="Console"]')).not.toBeNull();
    });

    it('reveal nothing of the console to other users', async () => {
      const page = await (await service.make.signedIn(user)).open(`${CONSOLE}/nowhere`);
      expect(page.status).toBe(403);
      expect(page.html.querySelector('nav[aria-label="Console"]')).toBeNull();
    });
  });
});
