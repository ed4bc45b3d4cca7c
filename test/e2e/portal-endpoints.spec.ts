import { auditEventsOn } from '../support/audit-events.js';
import { csrfTokenOn, type BrowserSession, type Page, postedAnew } from '../support/browser-session.js';
import { type TestClient, useSharedService } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';
import { untilHourHasRoom } from '../support/hours.js';
import { withSettings } from '../support/changed-settings.js';
import { shellSamplesOf } from '../support/guide-shell.js';
import { enterPortal, errorAt, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';
import { listOf } from '../support/list-of.js';

const NEW = '/portal/endpoints/new';

describe('Endpoints in the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  let client: TestClient;
  let browser: BrowserSession;

  beforeEach(async () => {
    client = await service.make.client();
    browser = await enterPortal(service, client);
  });

  const GOOD = { url: 'http://127.0.0.1:9/hook', description: 'Back office', event_types: 'vehicle.updated' };
  const add = async (fields: Record<string, string | undefined>): Promise<Page> =>
    browser.fillIn(NEW, { ...GOOD, ...fields });
  const stored = (): Promise<Record<string, unknown>[]> =>
    service.database.query(
      `SELECT url, description, event_types, enabled FROM webhook_endpoints
        WHERE client_id = $1 AND deleted_at IS NULL ORDER BY id`,
      [client.id],
    );
  const valueOf = (page: Page, field: string) => page.html.querySelector(`#${field}`)!.getAttribute('value');
  const checked = (page: Page): string[] =>
    page.html.querySelectorAll('input[name=event_types][checked]').map((box) => box.getAttribute('value')!);

  describe('are refused with an error next to the field, and keep what was typed,', () => {
    it.each([
      // test/unit/webhook-addresses.spec.ts has every URL that is refused.
      ['no URL', '', 'The URL must not be empty.'],
      ['a blank URL', '   ', 'The URL must not be empty.'],
      ['markup', '"><img src=x onerror=alert(1)>', 'The URL must not contain spaces'],
      ['an unknown host', 'https://nowhere.invalid/', 'must have a host that can be resolved'],
    ])('for %s', async (_what, url, error) => {
      const page = await add({ url });
      expect([page.status, page.headers.get('cache-control')]).toEqual([400, 'no-store']);
      expect(errorAt(page, 'url')).toContain(error);
      const field = page.html.querySelector('#url')!;
      expect(field.getAttribute('aria-invalid')).toBe('true');
      expect(field.getAttribute('aria-describedby')).toBe('url-error url-hint');
      expect(field.getAttribute('value')).toBe(url);
      expect(valueOf(page, 'description')).toBe('Back office');
      expect(checked(page)).toEqual(['vehicle.updated']);
      expect(page.text).not.toContain('<img');
      expect(await stored()).toEqual([]);
    });

    it('for a description that is too long, together with all other errors', async () => {
      const description = '\u{1f697}'.repeat(201);
      const page = await add({ url: 'x', description, event_types: undefined });
      expect(page.status).toBe(400);
      expect(errorAt(page, 'description')).toBe('The description must have at most 200 characters.');
      expect(errorAt(page, 'url')).toBeDefined();
      expect(errorAt(page, 'event-types')).toBe('Choose at least one event type.');
      expect(page.html.querySelector('fieldset')!.getAttribute('aria-describedby')).toContain(
        'event-types-error',
      );
      expect(valueOf(page, 'description')).toBe(description);
      expect((await add({ description: '\u{1f697}'.repeat(200) })).status).toBe(303);
    });

    it.each(['nothing.happened', '<b>x</b>', 'vehicle.updated\u0007', 'x'.repeat(5000)])(
      'for the unknown event type %j',
      async (type) => {
        const page = await add({ event_types: type });
        expect(page.status).toBe(400);
        expect(errorAt(page, 'event-types')).toContain('not in the event catalogue');
        expect(page.text).not.toContain('<b>');
        expect(await stored()).toEqual([]);
      },
    );

    it("for a type that the client's scopes do not allow, which is not offered either", async () => {
      client = await service.make.client({ scopes: ['vehicle:read'] });
      browser = await enterPortal(service, client);
      const page = await add({ event_types: 'charging_session.created' });
      expect(page.status).toBe(400);
      expect(errorAt(page, 'event-types')).toContain('charging_session:read');
      const shown = page.html
        .querySelectorAll('input[name=event_types]')
        .map((box) => box.getAttribute('value'));
      expect(shown).toEqual(
        listOf(`
        user.consent_changed, user.consent_expired, user.consent_expiring, user.consent_granted,
        user.consent_revoked, user.deletion_cancelled, user.deletion_requested, vehicle.created,
        vehicle.deleted, vehicle.updated, webhook.test
      `),
      );
      for (const path of ['/portal/event_types', '/portal/deliveries'])
        expect((await browser.open(path)).text).not.toContain('charging_session.created');
    });

    it('also when edited, and then nothing is changed', async () => {
      const { id } = await makeEndpoint(service, client, { description: 'Before' });
      const path = `/portal/endpoints/${id}/edit`;
      const before = await stored();
      const fields = { url: 'nothing', description: 'After', event_types: 'vehicle.deleted' };
      const page = await browser.fillIn(path, fields);
      expect(page.status).toBe(400);
      expect([errorAt(page, 'url')?.slice(0, 7), valueOf(page, 'description'), checked(page)]).toEqual([
        'The URL',
        'After',
        ['vehicle.deleted'],
      ]);
      expect(await stored()).toEqual(before);
    });
  });

  it('are added once, however often the form is posted, also by a program without the hidden id', async () => {
    const page = await browser.open(NEW);
    const answers = [
      ...(await Promise.all([1, 2].map(() => browser.submit(page, NEW, { ...GOOD, ...postedAnew() })))),
      await browser.submit(page, NEW, { ...GOOD, ...postedAnew() }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
    expect(await stored()).toHaveLength(1);
    const made = await browser.submit(page, NEW, { ...GOOD, once: 'endp01HN2NJ9NMRZBXT1H6FT9N7735.x' });
    expect(made.status).toBe(403);
    const form = { ...GOOD, csrf_token: csrfTokenOn(page, NEW) };
    expect((await browser.open(NEW, { form, headers: { origin: service.url } })).status).toBe(303);
    expect(await stored()).toHaveLength(2);
  });

  it('are edited by a form that leaves as it is what others have changed since it was opened', async () => {
    const { id } = await makeEndpoint(service, client, { description: 'Before' });
    const path = `/portal/endpoints/${id}/edit`;
    const page = await browser.open(path);
    const url = 'http://127.0.0.1:9/moved';
    await service.database.query('UPDATE webhook_endpoints SET url = $2, max_per_minute = 7 WHERE id = $1', [
      id,
      url,
    ]);
    expect((await browser.submit(page, path, { description: 'After' })).status).toBe(303);
    const [row] = await service.database.query(
      'SELECT url, max_per_minute, description FROM webhook_endpoints WHERE id = $1',
      [id],
    );
    expect(row).toEqual({ url, max_per_minute: 7, description: 'After' });
  });

  it('are edited by a form that leaves as it is what others save while it waits for them', async () => {
    const { id } = await makeEndpoint(service, client, { description: 'Before' });
    const path = `/portal/endpoints/${id}/edit`;
    const page = await browser.open(path);
    const row = { url: 'http://127.0.0.1:9/moved', max_per_minute: 7, event_types: ['vehicle.deleted'] };
    const [saved] = await whileHeld(
      service,
      [
        'UPDATE webhook_endpoints SET url = $2, max_per_minute = $3, event_types = $4 WHERE id = $1',
        [id, row.url, row.max_per_minute, row.event_types],
      ],
      [() => browser.submit(page, path, { description: 'After' })],
      'COMMIT',
    );
    expect(saved!.status).toBe(303);
    expect(
      await service.database.query(
        'SELECT url, max_per_minute, event_types, description FROM webhook_endpoints WHERE id = $1',
        [id],
      ),
    ).toEqual([{ ...row, description: 'After' }]);
  });

  it('are edited also where the host of a URL that stays is unknown by now', async () => {
    const { id } = await makeEndpoint(service, client, { description: 'Before' });
    const url = 'https://nowhere.invalid/hook';
    await service.database.query('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [id, url]);
    const path = `/portal/endpoints/${id}/edit`;
    expect(errorAt(await browser.fillIn(path, { url: `${url}s` }), 'url')).toContain('a host that can be');
    expect((await browser.fillIn(path, { description: 'After' })).status).toBe(303);
    expect(await stored()).toMatchObject([{ url, description: 'After' }]);
  });

  it('are limited to 50: the page says so, offers no more, and refuses a 51st but keeps what was typed', async () => {
    const form = await browser.open(NEW);
    await service.database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
       SELECT 'endp' || lpad(n::text, 18, '0') || right($1, 8), $1, 'https://api.example/' || n, '{vehicle.updated}', ''
         FROM generate_series(1, 50) n`,
      [client.id],
    );
    const page = await browser.open('/portal');
    expect(page.html.querySelectorAll('.entries > li')).toHaveLength(50);
    expect(wordsOf(page)).toContain('All 50 endpoints are in use');
    expect(page.html.querySelector(`a[href="${NEW}"]`)).toBeNull();
    const refused = await browser.submit(form, NEW, GOOD);
    expect([refused.status, valueOf(refused, 'url')]).toEqual([409, GOOD.url]);
    expect(refused.html.querySelector('[role=alert]')!.text).toContain('at most 50');
    expect(await stored()).toHaveLength(50);
  });

  it('are none at first, and can be added, shown in full, edited, disabled, enabled and deleted', async () => {
    const empty = await browser.open('/portal');
    expect(wordsOf(empty)).toContain('There are no endpoints yet');
    expect(empty.html.querySelector(`a[href="${NEW}"]`)!.text).toBe('Add endpoint');
    const page = await browser.open(NEW);
    const answer = await browser.open(NEW, {
      form: [
        ['csrf_token', csrfTokenOn(page, NEW)],
        ['url', ' http://127.0.0.1:9/a\u00e9 '],
        ['description', 'Fleet <b>office</b>'],
        ['event_types', 'vehicle.updated'],
        ['event_types', 'vehicle.deleted'],
        ['event_types', 'vehicle.updated'],
      ],
    });
    expect(answer.status).toBe(303);
    const path = answer.headers.get('location')!;
    const id = path.split('/').at(-1)!;
    expect(await stored()).toEqual([
      {
        url: 'http://127.0.0.1:9/a%C3%A9',
        description: 'Fleet <b>office</b>',
        event_types: ['vehicle.updated', 'vehicle.deleted'],
        enabled: true,
      },
    ]);
    const shown = await browser.open(path);
    const words = listOf('Endpoint added, 127.0.0.1:9/a%C3%A9, Fleet, Enabled, vehicle.deleted, None yet');
    for (const each of [...words, 'No deliveries yet']) expect(wordsOf(shown)).toContain(each);
    expect(shown.text).not.toContain('<b>');
    expect(wordsOf(await browser.open(path))).not.toContain('Endpoint added');

    const edit = await browser.open(`${path}/edit`);
    expect([valueOf(edit, 'url'), checked(edit)]).toEqual([
      'http://127.0.0.1:9/a%C3%A9',
      ['vehicle.deleted', 'vehicle.updated'],
    ]);
    await browser.submit(edit, `${path}/edit`, { ...GOOD, description: '', event_types: 'vehicle.created' });
    expect(await stored()).toEqual([
      { url: GOOD.url, description: '', event_types: ['vehicle.created'], enabled: true },
    ]);

    await browser.submit(await browser.open(path), `${path}/disable`);
    const disabled = await browser.open(path);
    expect(wordsOf(disabled)).toContain('Endpoint disabled');
    expect(wordsOf(await browser.open('/portal'))).toContain('Disabled');
    await browser.submit(disabled, `${path}/enable`);
    expect((await stored())[0]).toMatchObject({ enabled: true });

    const confirmation = await browser.open(`${path}/delete`);
    expect(wordsOf(confirmation)).toContain('Nothing more is sent to it');
    const deleted = await browser.submit(confirmation, `${path}/delete`);
    expect([deleted.status, deleted.headers.get('location')]).toEqual([303, '/portal']);
    expect(wordsOf(await browser.open('/portal'))).toContain('Endpoint deleted.');
    expect(await stored()).toEqual([]);
    const by = { actor_type: 'client', actor_id: client.id, address: '127.0.0.1' };
    expect(await auditEventsOn(service, id)).toMatchObject(
      ['created', 'updated', 'updated', 'updated', 'deleted'].map((what) => ({
        action: `webhook_endpoint.${what}`,
        ...by,
      })),
    );
  });

  it.each([
    ['gone', '410 Gone'],
    ['failing', 'no events for five days'],
  ])('that the service disabled as %s say why, until they are enabled again', async (reason, words) => {
    const { id } = await makeEndpoint(service, client);
    await service.database.query(
      `UPDATE webhook_endpoints SET enabled = false, disabled_at = now(), disabled_reason = $2 WHERE id = $1`,
      [id, reason],
    );
    const path = `/portal/endpoints/${id}`;
    for (const each of ['/portal', path]) {
      expect(wordsOf(await browser.open(each))).toMatch(/Disabled by the service/);
      expect(wordsOf(await browser.open(each))).toContain(words);
    }
    await browser.submit(await browser.open(path), `${path}/enable`);
    expect(wordsOf(await browser.open(path))).not.toContain('Disabled by the service');
  });

  it('show their success rate of the last 24 hours, and charts that are also tables', async () => {
    const { id } = await makeEndpoint(service, client);
    const [now] = await service.database.query<{ hour: Date }>("SELECT date_trunc('hour', now()) AS hour");
    await service.database.query(
      `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
       SELECT $1, $2::timestamptz - h, d, f, (d + f) * 250, 900
         FROM (VALUES (interval '0', 199, 1), (interval '3 hours', 1300, 0), (interval '3 days', 0, 50)) AS v (h, d, f)`,
      [id, now!.hour],
    );
    expect(wordsOf(await browser.open('/portal'))).toContain('99 % of 1,500 attempts');
    const day = await browser.open(`/portal/endpoints/${id}`);
    expect(day.html.querySelectorAll('svg[role=group] title').map(({ text }) => text)).toEqual([
      'Attempts of the last 24 hours, by the hour: 1499 delivered, 1 failed.',
      'Response times: the slowest attempt took 900 ms.',
    ]);
    const rows = day.html
      .querySelectorAll('tbody tr')
      .map((row) => row.querySelectorAll('td').map(({ text }) => text));
    expect(rows).toHaveLength(24);
    // The last one, unless another hour has begun.
    expect(rows.slice(-2)).toContainEqual(['199', '1', '250 ms', '900 ms']);
    const week = await browser.open(`/portal/endpoints/${id}?range=7d`);
    expect(week.html.querySelector('svg title')!.text).toContain('1499 delivered, 51 failed');
    expect(week.html.querySelectorAll('tbody tr')).toHaveLength(7);
    for (const range of ['x', '', '7d&range=7d', '<b>'])
      expect((await browser.open(`/portal/endpoints/${id}?range=${range}`)).status).toBe(200);
  });
});

describe('The first page of the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
  const first = async (browser: BrowserSession) => (await browser.open('/portal')).html;
  const words = (page: Page['html'], name: string) => {
    return page.querySelector(`[aria-label="${name}"]`)?.text.replaceAll(/\s+/g, ' ').trim();
  };

  it('ticks the first steps by what happened to this client alone, leads to the next one, and ends with the last', async () => {
    const [client, other] = [await service.make.client(), await service.make.client()];
    const [user, browser] = [await service.make.user(), await enterPortal(service, client)];
    await seedDelivery(service, await makeEndpoint(service, other, {}), { state: 'delivered' });
    await service.make.consent(other, user);
    const steps = async () => {
      const section = (await first(browser)).querySelector('.first-steps');
      return section && [section.text, section.querySelector('li a')?.getAttribute('href')];
    };
    await service.make.clientToken(client);
    expect(await steps()).toEqual([expect.stringContaining('2 of 5 done'), undefined]);
    const endpoint = await makeEndpoint(service, client, {});
    await seedDelivery(service, endpoint, { state: 'failed' });
    const test = `/portal/endpoints/${endpoint.id}/test`;
    expect(await steps()).toEqual([expect.stringContaining('3 of 5 done'), test]);
    const delivered = await seedDelivery(service, endpoint, { state: 'delivered' });
    const guide = '/docs/guides/on-behalf-of-a-user';
    expect(await steps()).toEqual([expect.stringContaining('4 of 5 done'), guide]);
    // It is being sent again.
    await service.database.query("UPDATE webhook_endpoints SET recent_results = '.' WHERE id = $1", [
      endpoint.id,
    ]);
    await service.database.query(
      "UPDATE deliveries SET state = 'pending', next_attempt_at = now() + interval '1 hour', finished_at = NULL WHERE id = $1",
      [delivered],
    );
    expect(await steps()).toEqual([expect.stringContaining('4 of 5 done'), guide]);
    expect((await fetch(service.url + guide)).status).toBe(200);
    await service.make.consent(client, user);
    expect(await steps()).toBeNull();
  });

  it('shows attempts, the share of the limit, and connected users, of this client alone', async () => {
    await untilHourHasRoom();
    const [client, other] = [await service.make.client(), await service.make.client()];
    for (const each of [client, other]) {
      await service.make.consent(each, await service.make.user());
      const { id } = await makeEndpoint(service, each, {});
      await service.database.query(
        `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
         SELECT $1, date_trunc('hour', now(), 'UTC') - make_interval(hours => n), 1000, n, 400, 250 FROM generate_series(0, 24) n`,
        [id],
      );
    }
    await service.http.get('/v2/users', { bearer: await service.make.clientToken(client) });
    const page = await first(await enterPortal(service, client));
    expect(words(page, 'Delivery attempts')).toMatch(
      /^Delivery attempts in 24 hours ?24,276 · 99 % succeeded · View failed/,
    );
    expect(words(page, 'Users')).toMatch(/^Users connected ?1 ?Each/);
    expect(words(page, 'Requests')).toMatch(/^Requests in the last hour ?1 of 1,000 with/);
    expect(page.querySelector('meter')!.getAttribute('value')).toBe('1');
  });

  it('does not count a disabled user, whose consent counts as not given', async () => {
    const client = await service.make.client();
    const [user, disabled] = [await service.make.user(), await service.make.user()];
    for (const each of [user, disabled]) await service.make.consent(client, each);
    await makeEndpoint(service, client, {});
    await service.database.query('UPDATE users SET enabled = false WHERE id = $1', [disabled.id]);
    const page = await first(await enterPortal(service, client));
    expect(words(page, 'Users')).toMatch(/^Users connected ?1 ?Each/);
  });

  it('says in one line which endpoint fails, why and since when; its page says the same, what comes next, and what to recover', async () => {
    const client = await service.make.client();
    const browser = await enterPortal(service, client);
    await makeEndpoint(service, client, {});
    const verdict = async () => (await first(browser)).querySelector('.verdict')!.text;
    expect(await verdict()).toBe('1 endpoint, none is failing.');
    const failing = await makeEndpoint(service, client, { url: 'http://127.0.0.1:9/down' });
    const path = `/portal/endpoints/${failing.id}`;
    const asks = async () => (await browser.open(path)).html.querySelector(`form[action="${path}/test"]`);
    expect((await asks())!.querySelector('[name=type]')!.getAttribute('value')).toBe('vehicle.updated');
    await seedDelivery(service, failing, { state: 'failed', attempts: [{ status: null, failure: 'dns' }] });
    await seedDelivery(service, failing, { state: 'pending', attempts: [{ status: null, failure: 'dns' }] });
    await service.database.query('UPDATE webhook_endpoints SET failing_since = now() WHERE id = $1', [
      failing.id,
    ]);
    expect(await verdict()).toMatch(
      /^2 endpoints, 1 failing: 127\.0\.0\.1:9, Host name not found \(DNS\), since /,
    );
    const banner = (await browser.open(path)).html.querySelector('.outcome-failed')!;
    expect(banner.text).toMatch(
      /^FailingHost name not found \(DNS\)Check the spelling .*Since .*After five days without a success it is disabled, on .*Next attempt: .*Recover 1$/,
    );
    const recover = await browser.open(
      banner.querySelector('a')!.getAttribute('href')!.replaceAll('&amp;', '&'),
    );
    expect(recover.html.querySelector('.outcome')!.text).toContain('1 delivery failed');
    expect(await asks()).toBeNull();
  });

  it('says nothing of users where none can authorize the client', async () => {
    const client = await service.make.client({ grantTypes: ['client_credentials'] });
    const browser = await enterPortal(service, client);
    await service.make.clientToken(client);
    expect((await first(browser)).querySelector('.first-steps')!.text).toContain('2 of 4 done');
    await makeEndpoint(service, client, {});
    expect(words(await first(browser), 'Users')).toBeUndefined();
  });
});

describe('An endpoint at an internal address', () => {
  const service = useSharedService();

  it.each(['https://127.0.0.1/', 'https://[::ffff:169.254.169.254]/', 'https://printer/'])(
    'such as %s is refused early with the reason next to the field',
    async (url) => {
      const browser = await enterPortal(service, await service.make.client());
      const fields = { url, event_types: 'vehicle.updated' };
      const page = await browser.fillIn(NEW, fields);
      expect(page.status).toBe(400);
      expect(errorAt(page, 'url')).toMatch(/^The URL must not point to an internal (address|name)/);
      expect(wordsOf(await browser.open('/portal'))).toContain('There are no endpoints yet');
    },
  );

  const LOCAL = 'http://127.0.0.1:4410/hook';
  const add = async (environment: 'live' | 'sandbox', url = LOCAL) => {
    const client = await service.make.client({ environment });
    const browser = await enterPortal(service, client);
    return { client, browser, page: await browser.fillIn(NEW, { url, event_types: 'vehicle.updated' }) };
  };

  it('on the developer’s machine is refused with the way to receive events there', async () => {
    const { browser, page } = await add('sandbox');
    expect([page.status, errorAt(page, 'url')]).toEqual([
      400,
      expect.stringContaining('“charging-data listen”'),
    ]);
    const [file, place] = page.html.querySelector('main a[href*="#"]')!.getAttribute('href')!.split('#');
    expect((await browser.open(file!)).html.querySelector('main h2')!.id).toBe(place);
    expect((await shellSamplesOf(service.http, 'webhooks'))[1]).toMatch(
      /^npx --yes \S+\/downloads\/charging-data-[0-9a-f]{8}\.tgz listen --forward /m,
    );
    expect(wordsOf(page)).not.toContain('demonstration');
  });

  it('on this machine is taken for sandbox clients of the demonstration, and for nobody else', async () => {
    await withSettings(service, { demonstration: true }, async () => {
      for (const url of [LOCAL, 'http://localhost:3000/', 'http://[::1]:8080/hook']) {
        const { client, page } = await add('sandbox', url);
        expect([url, page.status]).toEqual([url, 303]);
        const stored = 'SELECT url FROM webhook_endpoints WHERE client_id = $1';
        expect(await service.database.column(stored, [client.id])).toEqual([url]);
      }
      for (const url of [
        'http://10.0.0.1/',
        'http://169.254.169.254/',
        'http://printer/',
        'http://hooks.example/',
      ])
        expect([url, (await add('sandbox', url)).page.status]).toEqual([url, 400]);
      const { page } = await add('live');
      expect([page.status, wordsOf(page)]).toEqual([
        400,
        expect.stringContaining('endpoints of sandbox clients may be on this machine'),
      ]);
    });
  });
});
