import { ActivityService } from '#records/activity/activity.service.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { madeForEach, madeOnce, type Page, until } from '../support/spec.js';
import { untilHourHasRoom } from '../support/hours.js';
import { startInstance, TEST_ENCRYPTION_KEY, useService } from '../support/test-service.js';
import { endingIn } from '../support/tokens.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { listOf } from '../support/list-of.js';

const service = useService();

const browser = madeOnce(() => service.make.signedInNew({ role: 'operator' }));
beforeAll(async () => await leaveOutScheduledPurges(service));
const client = madeForEach(() => service.make.client());

const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
const flush = () => service.app.get(ActivityService).flush();
const countsOf = async (clientId: string): Promise<Record<string, number>> => {
  await flush();
  const rows = await service.database.query<{ what: string; n: number }>(
    `SELECT kind || ' ' || detail AS what, sum(count)::int AS n FROM activity_hours WHERE client_id = $1 GROUP BY 1 ORDER BY 1`,
    [clientId],
  );
  return Object.fromEntries(rows.map(({ what, n }) => [what, n]));
};
const ask = async (
  secret = client.secret,
  form: Record<string, string> = { grant_type: 'client_credentials' },
) => {
  const answer = await service.http.token(form, { id: client.id, secret });
  // The page shows the latest first, to the millisecond.
  const answered = Date.now();
  await until('what follows is later', () => Date.now() > answered);
  return answer;
};
const use = (bearer: string) => service.http.get('/v2/users', { bearer });
const refusals = async () => {
  const page = await browser.open(`/admin/console/clients/${client.id}/refusals`);
  return page.html.querySelectorAll('table:first-of-type tbody th strong').map(({ text }) => text);
};

describe("The page of a client's refused requests", () => {
  it('is empty at first', async () => {
    const page = await browser.open(`/admin/console/clients/${client.id}/refusals`);
    expect(page.html.querySelector('.empty')!.text).toBe('No requests of this client were refused.');
  });

  it('distinguishes a wrong secret, an expired secret and a disabled client', async () => {
    await ask('x'.repeat(40));
    await service.make.rotateSecret(client);
    await service.app.get(PurgeService).purge();
    expect((await ask()).status).toBe(401);
    await service.make.updateClient(client, { enabled: false });
    await ask();
    await service.http.token({ grant_type: 'client_credentials', client_id: client.id });
    expect(await countsOf(client.id)).toEqual({
      'token_refused client_disabled': 2,
      'token_refused expired_secret': 1,
      'token_refused wrong_secret': 1,
    });
    expect(await refusals()).toEqual(['Client disabled', 'Expired secret', 'Wrong secret']);
  });

  it('shows the reason of a refused token request, or else its error code', async () => {
    await ask(client.secret, { grant_type: 'password' });
    await ask(client.secret, { grant_type: 'client_credentials', scope: 'admin:read' });
    await ask(client.secret, { grant_type: 'refresh_token', refresh_token: 'x' });
    await ask(client.secret, {});
    await service.http.token({ grant_type: 'client_credentials', client_id: client.id });
    expect(await countsOf(client.id)).toEqual({
      'token_refused invalid_request': 1,
      'token_refused no_secret': 1,
      'token_refused refresh_token_malformed': 1,
      'token_refused scope_not_registered': 1,
      'token_refused unsupported_grant_type': 1,
    });
    expect(await refusals()).toEqual(
      listOf(`
      No secret, Malformed request, Malformed refresh token, Scope not registered, Unknown grant type
    `),
    );
  });

  it('shows why a token of the client was refused, even after the purge', async () => {
    const [expired, revoked, ofRevokedKey] = [
      await endingIn(service, await service.make.clientToken(client), -2 * 86_400),
      await service.make.clientToken(client),
      await service.make.clientToken(client),
    ];
    const keys = service.app.get(TokenKeysService);
    const { id: keyId } = await keys.signing();
    await keys.rotate();
    const again = await service.make.clientToken(client);
    const forged = again.slice(0, -4) + (again.endsWith('AAAA') ? 'BBBA' : 'AAAA');
    const { access_token } = await service.make.tokens(client, await service.make.user());
    await service.http.send('/o/revoke_token/', {
      form: { token: revoked },
      basic: { id: client.id, secret: client.secret },
    });
    await query('UPDATE consents SET revoked_at = now() WHERE client_id = $1', [client.id]);
    await service.app.get(PurgeService).purge();
    for (const token of [expired, revoked, access_token]) expect((await use(token)).status).toBe(401);
    await keys.revoke(keyId);
    for (const token of [ofRevokedKey, forged]) expect((await use(token)).status).toBe(401);
    const token = await service.make.clientToken(client);
    expect((await service.http.get('/admin/clients', { bearer: token })).status).toBe(403);
    expect(await countsOf(client.id)).toMatchObject({
      'bearer_refused consent_withdrawn': 1,
      'bearer_refused scope_missing': 1,
      'bearer_refused token_expired': 1,
      'bearer_refused token_key_revoked': 1,
      'bearer_refused token_revoked': 1,
      'token_issued authorization_code': 1,
      'token_issued client_credentials': 5,
    });
    expect(await countsOf('')).toMatchObject({ 'bearer_refused token_forged': 1 });
  });

  it('shows why introspection was refused to a token of the client, and counts that once', async () => {
    const bearer = await service.make.clientToken(client);
    const expired = await endingIn(service, bearer, -1);
    const ofNobody = await countsOf('');
    for (const [token, status] of [
      [expired, 401],
      [bearer, 403],
    ] as const) {
      const answer = await service.http.send('/o/introspect', { bearer: token, form: { token: 'x' } });
      expect(answer.status).toBe(status);
    }
    expect(await countsOf(client.id)).toMatchObject({
      'bearer_refused token_expired': 1,
      'token_refused insufficient_scope': 1,
    });
    expect(await countsOf('')).toEqual(ofNobody);
    expect((await refusals()).toSorted()).toEqual(['Expired access token', 'Introspection not allowed']);
  });

  it('counts requests near the rate limit and over it', async () => {
    await service.make.updateClient(client, { rateLimit: 6 });
    const token = await service.make.clientToken(client);
    for (let n = 0; n < 8; n++) await use(token);
    expect(await countsOf(client.id)).toMatchObject({
      'rate_limit_near partner': 2,
      'rate_limited partner': 2,
    });
    const overview = await browser.open('/admin/console');
    expect(overview.html.querySelector('.verdict-bad')!.text).toContain(client.name);
  });

  it('has no counts for clients that do not exist, whatever strangers send', async () => {
    const counted = () =>
      query(
        "SELECT DISTINCT client_id FROM activity_hours WHERE client_id NOT IN ('', 'all') ORDER BY client_id",
      );
    await flush();
    const before = await counted();
    for (const id of ['clnt01HN2NJ9NMRZBXT1H6FT9N7735', 'made up', 'all', "'; --"])
      await service.http.token({ grant_type: 'client_credentials' }, { id, secret: 'x'.repeat(40) });
    await use('cds_at_made-up');
    await service.http.get('/v2/users');
    await flush();
    expect(await counted()).toEqual(before);
    expect(await countsOf('')).toMatchObject({
      'bearer_refused no_token': 1,
      'bearer_refused token_malformed': 1,
      'token_refused unknown_client': 4,
    });
  });
});

describe('The activity counters', () => {
  it('of two instances add up, are written at shutdown, and are purged after the retention time', async () => {
    const other = await startInstance(service.database, {
      BASE_URL: service.url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    });
    const activity = {
      kind: 'token_issued',
      detail: 'x',
      client: { id: client.id, environment: 'live' },
    } as const;
    for (let n = 0; n < 3; n++) {
      other.app.get(ActivityService).count(activity);
      service.app.get(ActivityService).count(activity);
    }
    await Promise.all([other.app.close(), flush()]);
    expect(await countsOf(client.id)).toEqual({ 'token_issued x': 6 });
    await query("UPDATE activity_hours SET hour = hour - interval '31 days' WHERE client_id = $1", [
      client.id,
    ]);
    await service.app.get(PurgeService).purge();
    expect(await countsOf(client.id)).toEqual({});
  });

  it('keep a bounded number of distinct entries, and count the rest as "other"', async () => {
    const activity = service.app.get(ActivityService);
    for (let n = 0; n < 5000; n++)
      activity.count({
        kind: 'sign_in',
        detail: 'many',
        client: { id: `clnt-test-${n}`, environment: 'live' },
      });
    await flush();
    const [{ rows, sum }] = (await query(
      "SELECT count(*)::int AS rows, sum(count)::int AS sum FROM activity_hours WHERE kind = 'sign_in' AND client_id <> 'all' AND detail IN ('many', 'other')",
    )) as [{ rows: number; sum: number }];
    expect(rows).toBeLessThan(4100);
    expect(sum).toBe(5000);
  });

  it('count sign-ins and failed sign-ins', async () => {
    const before = await countsOf('all');
    const user = await service.make.user();
    await service.make.signedIn(user);
    await expect(service.make.signedIn(user, 'wrong horse battery staple')).rejects.toThrow();
    const after = await countsOf('all');
    for (const what of ['sign_in password', 'sign_in_refused password'])
      expect([what, after[what]]).toEqual([what, (before[what] ?? 0) + 1]);
  });
});

describe('The front page of the console', () => {
  const charts = (page: Page) => page.html.querySelectorAll('svg.plot > title').map(({ text }) => text);
  const chart = (page: Page, of: string) => charts(page).find((title) => title.startsWith(of));

  it('shows each figure as a labelled chart beside the time before, and as a table', async () => {
    await query(
      `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
       SELECT 'all', date_trunc('hour', now(), 'UTC') - make_interval(hours => n * 24), 'sign_in_refused', 'of days', n * 100, now()
         FROM generate_series(0, 13) n`,
    );
    const day = await browser.open('/admin/console?range=<script>');
    expect(charts(day)).toHaveLength(5);
    expect(charts(day)[0]).toMatch(
      /^Tokens issued in the last 24 hours: \d+; in the 24 hours before: \d+\.$/,
    );
    expect(chart(day, 'Failed logins')).toMatch(
      /^Failed logins in the last 24 hours: \d{1,2}; in the 24 hours before: 100\.$/,
    );
    const page = await browser.open('/admin/console?range=7d');
    expect(chart(page, 'Failed logins')).toMatch(
      /^Failed logins in the last 7 days: 2,1\d\d; in the 7 days before: 7,000\.$/,
    );
    expect(page.html.querySelector('[aria-label="Failed logins"]')!.text).toContain(
      '70 % fewer than in the 7 days before',
    );
    expect(page.html.querySelectorAll('details.numbers tbody tr')).toHaveLength(24);
  });

  it('says that the service disabled an endpoint, however many others people have disabled', async () => {
    const disable = (n: number, reason: 'gone' | null) =>
      query(
        `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret, enabled, disabled_reason, disabled_at)
         VALUES ('endp' || substr($1, 5, 20) || lpad($2::text, 6, '0'), $1, 'https://planner.example/hooks', '{vehicle.updated}', '\\x00', false, $3, now())`,
        [client.id, String(n), reason],
      );
    for (let n = 0; n < 11; n++) await disable(n, null);
    expect((await browser.open('/admin/console')).text).not.toContain('The service disabled');
    await disable(11, 'gone');
    expect((await browser.open('/admin/console')).text).toContain('The service disabled an endpoint.');
    await query('DELETE FROM webhook_endpoints WHERE client_id = $1', [client.id]);
  });

  it('names the live clients to which most was refused in a day, most first', async () => {
    await untilHourHasRoom();
    const [worst, less, old, sandbox] = [
      await service.make.client(),
      await service.make.client(),
      await service.make.client(),
      await service.make.client({ environment: 'sandbox' }),
    ];
    for (const [{ id }, count, hours] of [
      [less, 400_000, 1],
      [worst, 500_000, 23],
      [old, 600_000, 24],
      [sandbox, 700_000, 0],
    ] as const) {
      await query(
        `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
         VALUES ($1, date_trunc('hour', now(), 'UTC') - make_interval(hours => $2), 'token_refused', 'wrong_secret', $3, now())`,
        [id, hours, count],
      );
    }
    const page = await browser.open('/admin/console');
    const table = page.html
      .querySelectorAll('table')
      .find(({ text }) => text.startsWith('Clients with most refusals'))!;
    const links = table.querySelectorAll('a').map((link) => link.getAttribute('href'));
    expect(links.slice(0, 2)).toEqual([worst, less].map(({ id }) => `/admin/console/clients/${id}/refusals`));
    for (const { id } of [old, sandbox]) expect(links.join()).not.toContain(id);
  });
});
