import { type BrowserSession, madeForEach, madeOnce, type Page, useSharedService } from '../support/spec.js';
import { enterPortal, errorAt, makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';

const LIST = '/portal/deliveries';

describe('Deliveries in the portal', () => {
  const service = useSharedService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });

  const client = madeOnce(() => service.make.client());
  const browser = madeOnce(() => enterPortal(service, client));
  const endpoint = madeForEach(() => makeEndpoint(service, client));

  const idsOn = (page: Page): string[] =>
    page.html.querySelectorAll('tbody th a').map((link) => link.getAttribute('href')!.match(/dlvr[^?]*/)![0]);
  const listed = async (query: Record<string, string>, by: BrowserSession): Promise<string[]> => {
    const page = await by.open(`${LIST}?${new URLSearchParams(query).toString()}`);
    expect([query, page.status]).toEqual([query, 200]);
    return idsOn(page);
  };
  const day = (n: number): Date => new Date(`2026-03-${String(n).padStart(2, '0')}T12:00:00Z`);

  it.each([
    ['state', 'lost', 'Choose one of these states.'],
    ['state', '<script>alert(1)</script>', 'Choose one of these states.'],
    ['endpoint', 'endpx', 'Choose one of your endpoints.'],
    ['type', 'x'.repeat(65), 'Choose one of these event types.'],
    ['from', 'yesterday', 'Enter a date and a time'],
    // test/properties/portal-parsers.spec.ts has every time.
    ['from', '1969-12-31T23:59', 'Enter a date and a time'],
    ['to', "' OR 1=1 --", 'Enter a date and a time'],
  ])(
    'are not filtered by %s %j: the error is next to the field, which keeps its value',
    async (field, value, error) => {
      await seedDelivery(service, endpoint, { state: 'failed' });
      const page = await browser.open(`${LIST}?${new URLSearchParams({ [field]: value }).toString()}`);
      expect([page.status, errorAt(page, field)?.slice(0, error.length)]).toEqual([400, error]);
      expect(page.html.querySelector(`#${field}`)!.getAttribute('aria-invalid')).toBe('true');
      const kept =
        page.html.querySelector(`#${field} option[selected]`) ?? page.html.querySelector(`#${field}`);
      expect(kept!.getAttribute('value')).toBe(value);
      expect(page.text).not.toContain('<script>');
      expect(idsOn(page)).toEqual([]);
    },
  );

  it('are not filtered by a period that ends before it begins', async () => {
    const page = await browser.open(`${LIST}?from=2026-03-02T00:00&to=2026-03-02T00:00:00`);
    expect([page.status, errorAt(page, 'to')]).toEqual([400, 'This must be later than “From”.']);
  });

  it.each([
    'page_after=x',
    `page_after=endp${'0'.repeat(26)}`,
    'page_before=%3Cb%3E',
    `page_after=dlvr${'0'.repeat(26)}&page_before=dlvr${'0'.repeat(26)}`,
    'from=%zz',
    'state=%00',
  ])('with %s are a 400 page', async (query) => {
    const page = await browser.open(`${LIST}?${query}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
  });

  it('can be filtered by state, endpoint, type and time, separately and together', async () => {
    const own = await service.make.client();
    const inside = await enterPortal(service, own);
    const [endpoint, other] = [await makeEndpoint(service, own), await makeEndpoint(service, own)];
    const ids = [
      await seedDelivery(service, endpoint, { state: 'delivered', at: day(1), attempts: [{ status: 200 }] }),
      await seedDelivery(service, endpoint, { state: 'failed', at: day(2), type: 'vehicle.deleted' }),
      await seedDelivery(service, other, { state: 'failed', at: day(3) }),
      await seedDelivery(service, other, { state: 'pending', at: day(4) }),
      await seedDelivery(service, other, {
        state: 'cancelled',
        at: day(5),
        cancelReason: 'consent_withdrawn',
      }),
    ] as const;
    const empty = { state: '', endpoint: '', type: '', from: '', to: '' };
    expect(await listed({}, inside)).toEqual([...ids].reverse());
    expect(await listed(empty, inside)).toEqual([...ids].reverse());
    const filters: [query: Record<string, string>, shown: number[]][] = [
      [{ state: 'failed' }, [2, 1]],
      [{ state: 'pending' }, [3]],
      [{ state: 'cancelled' }, [4]],
      [{ endpoint: endpoint.id }, [1, 0]],
      [{ type: 'vehicle.deleted' }, [1]],
      [{ type: 'nothing.like_it' }, []],
      [{ from: '2026-03-02T12:00', to: '2026-03-04T12:00:00' }, [2, 1]],
      [{ from: '2026-03-02T12:00:01', state: 'failed', endpoint: other.id }, [2]],
      [{ to: '2026-03-01T12:00' }, []],
    ];
    for (const [query, shown] of filters)
      expect(await listed(query, inside)).toEqual(shown.map((n) => ids[n]));
    const page = await inside.open(`${LIST}?state=failed&from=2026-03-01T00:00`);
    expect(page.html.querySelector('#state option[selected]')!.getAttribute('value')).toBe('failed');
    expect(page.html.querySelector('#from')!.getAttribute('value')).toBe('2026-03-01T00:00');
  });

  it('that are retried after a failed attempt are found from the list of failed ones, where they are not', async () => {
    const id = await seedDelivery(service, endpoint, { state: 'pending', attempts: [{ status: 500 }] });
    const page = await browser.open(`${LIST}?state=failed&endpoint=${endpoint.id}`);
    expect(wordsOf(page)).toContain('What is retried after a failed attempt is pending.');
    const link = page.html.querySelector('main p.empty a')!.getAttribute('href')!.replaceAll('&amp;', '&');
    expect(idsOn(await browser.open(link))).toEqual([id]);
    expect(
      (await browser.open(`${LIST}?state=delivered&endpoint=${endpoint.id}`)).html.querySelector('p.empty a'),
    ).toBeNull();
  });

  it('are listed in pages, newest first, and both page links keep the filter', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 60; n++)
      ids.unshift(await seedDelivery(service, endpoint, { state: n % 10 === 9 ? 'delivered' : 'failed' }));
    const failed = ids.filter((_id, n) => n % 10 !== 0);
    const seen: string[] = [];
    let path = `${LIST}?state=failed&endpoint=${endpoint.id}`;
    let last = '';
    for (let next: string | undefined = path; next;) {
      path = next;
      const page: Page = await browser.open(path);
      seen.push(...idsOn(page));
      last = page.html.querySelector('a[rel=prev]')?.getAttribute('href')?.replaceAll('&amp;', '&') ?? '';
      next = page.html.querySelector('a[rel=next]')?.getAttribute('href')?.replaceAll('&amp;', '&');
    }
    expect(seen).toEqual(failed);
    expect(last).toContain(`state=failed&endpoint=${endpoint.id}&page_before=`);
    expect(idsOn(await browser.open(last))).toEqual(failed.slice(25, 50));
    const beyond = await browser.open(`${LIST}?state=failed&page_after=dlvr${'0'.repeat(26)}`);
    expect(wordsOf(beyond)).toContain('There is nothing more here');
  });

  it('show payload, headers as sent, and every attempt with its error and advice', async () => {
    const user = await service.make.user();
    await service.make.consent(client, user);
    const id = await seedDelivery(service, endpoint, {
      userId: user.id,
      state: 'failed',
      at: day(7),
      attempts: [
        { failure: 'dns', detail: 'The host was not found.', durationMs: 12 },
        { failure: 'timeout', durationMs: 15_000 },
        { failure: 'blocked_address' },
        { failure: 'connection' },
        { failure: 'http' },
        { status: 302 },
        { failure: 'tls', detail: 'The certificate has expired.' },
        {
          status: 500,
          responseStart: '<h1>Oh & no</h1>',
          durationMs: 1234,
          signature: `v1,${'Q'.repeat(43)}=`,
        },
      ],
    });
    const page = await browser.open(`${LIST}/${id}`);
    const words = wordsOf(page);
    for (const each of [
      'Status 500 after 1.2 s',
      'See its logs',
      'Oh & no',
      'Host name not found (DNS)',
      'after 12 ms',
      'Timeout',
      'after 15 s',
      'Blocked address',
      'Connection failed',
      'Invalid response (HTTP)',
      'Status 302',
      'TLS connection failed',
      'The certificate has expired.',
      '7 Mar 2026, 12:00:00 UTC',
      `webhook-id: ${id}`,
      `webhook-timestamp: ${day(7).getTime() / 1000}`,
      `webhook-signature: v1,${'Q'.repeat(43)}=`,
      'webhook-event-type: vehicle.updated',
      '"type": "vehicle.updated", "timestamp"',
    ]) {
      expect(words.replaceAll('&quot;', '"')).toContain(each);
    }
    expect(page.text).not.toContain('<h1>Oh');
    expect(page.text).not.toContain('http-equiv="refresh"');
  });

  it.each([
    [
      { failure: 'http', detail: 'The server does not accept HTTP/1.1, and seems to accept HTTP/2 only.' },
      'We send requests with HTTP/1.1. Let your server accept it too, beside HTTP/2.',
    ],
    [
      { failure: 'tls', detail: 'The server does not accept HTTP/1.1, and seems to accept HTTP/2 only.' },
      'We send requests with HTTP/1.1. Let your server accept it too, beside HTTP/2.',
    ],
    [{ status: 505 }, 'We send requests with HTTP/1.1. Let your server accept it too, beside HTTP/2.'],
    [
      {
        failure: 'tls',
        detail:
          'The server asked for a client certificate (mutual TLS) and closed the connection because there is none.',
      },
      'We do not present client certificates. Do not demand one for this URL: check the signature of each request instead.',
    ],
    [
      {
        status: 500,
        detail:
          'The body of the response is encoded (gzip), which deliveries do not ask for. It is not shown.',
      },
      'Your server returned an error. See its logs.',
    ],
  ] as const)('to a receiver of another kind say so, with advice that fits: %j', async (attempt, advice) => {
    const id = await seedDelivery(service, endpoint, { state: 'failed', attempts: [attempt] });
    const outcome = (await browser.open(`${LIST}/${id}`)).html.querySelector('.outcome')!.text;
    if ('detail' in attempt) expect(outcome).toContain(attempt.detail);
    expect(outcome).toContain(advice);
    expect(outcome).not.toContain('Check');
  });

  it('that are pending say when the next attempt is, and the page refreshes itself only if that is soon', async () => {
    const id = await seedDelivery(service, endpoint, { state: 'pending', attempts: [{ status: 503 }] });
    const page = await browser.open(`${LIST}/${id}`);
    expect(wordsOf(page)).toMatch(/Next attempt: \d+ \w+ 20\d\d, \d\d:\d\d:\d\d UTC/);
    expect(page.text).not.toContain('http-equiv="refresh"');
    // While an attempt is in progress, the time of the next attempt is the end of its lease.
    await service.database.query(
      `UPDATE deliveries SET lease_id = 'held', next_attempt_at = now() + interval '29 seconds' WHERE id = $1`,
      [id],
    );
    const underWay = await browser.open(`${LIST}/${id}`);
    expect(underWay.text).toContain('<noscript><meta http-equiv="refresh" content="2"/></noscript>');
    const refused = await browser.submit(underWay, `${LIST}/${id}/resend`);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([409, 'text/html; charset=utf-8']);
    expect(wordsOf(refused)).toContain('being attempted right now');
  });

  it('that have not been sent yet do not say that they wait for a response', async () => {
    await service.database.query('UPDATE webhook_endpoints SET max_per_minute = 1 WHERE id = $1', [
      endpoint.id,
    ]);
    await service.database.query(
      "INSERT INTO webhook_throttles (endpoint_id, blocked_until) VALUES ($1, 'infinity')",
      [endpoint.id],
    );
    const id = await seedDelivery(service, endpoint, { state: 'pending' });
    const words = async (due: string, lease: string | null = null) => {
      await service.database.query(
        'UPDATE deliveries SET next_attempt_at = now() + $2::interval, lease_id = $3 WHERE id = $1',
        [id, due, lease],
      );
      return wordsOf(await browser.open(`${LIST}/${id}`));
    };
    for (const due of ['-1 minute', '1 hour']) expect(await words(due)).toContain('Not sent yet');
    expect(await words('29 seconds', 'held')).toContain('Waiting for the response');
  });

  it.each([
    ['consent_withdrawn', 'withdrew the consent'],
    ['endpoint_disabled', 'Enable it, then resend'],
    ['client_disabled', 'was disabled'],
    ['scope_missing', 'scope'],
  ] as const)('that were cancelled for %s say why', async (cancelReason, words) => {
    const id = await seedDelivery(service, endpoint, { state: 'cancelled', cancelReason });
    expect(wordsOf(await browser.open(`${LIST}/${id}`))).toContain(words);
  });

  it('cannot be resent to a disabled or deleted endpoint, and say so', async () => {
    const id = await seedDelivery(service, endpoint, { state: 'failed' });
    const path = `${LIST}/${id}`;
    const before = await browser.open(path);
    await service.database.query(
      'UPDATE webhook_endpoints SET enabled = false, disabled_at = now() WHERE id = $1',
      [endpoint.id],
    );
    const disabled = await browser.open(path);
    expect(wordsOf(disabled)).toContain('The endpoint is disabled');
    expect(disabled.html.querySelector(`form[action="${path}/resend"]`)).toBeNull();
    const deletion = 'UPDATE webhook_endpoints SET deleted_at = now() WHERE id = $1';
    await service.database.query(deletion, [endpoint.id]);
    expect(wordsOf(await browser.open(path))).toContain('was deleted, so this delivery cannot be resent');
    expect((await browser.submit(before, `${path}/resend`)).status).toBe(409);
  });
});
