import { ActivityService } from '#records/activity/activity.service.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { auditEventsOn } from '../support/audit-events.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import { calculateJwkThumbprint } from 'jose';
import { assertionOf, byAssertion, newKey, type ClientKey } from '../support/client-keys.js';
import { madeOnce } from '../support/made.js';
import { postedAnew } from '../support/browser-session.js';
import { setUpOrganisation } from '../support/organisation.js';
import { enterPortal, errorAt, wordsOf } from '../support/portal.js';
import { useSharedService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';

const PATH = '/portal/credentials';
const ROTATE = `${PATH}/rotate`;
const END = `${PATH}/end`;

const own = setUpOrganisation({}, useSharedService({ instances: 2, env: WEBHOOK_ENV }));
const { service, inPortal, member } = own;
let { owner, client } = own;
beforeEach(() => void ({ owner, client } = own));

const token = async (secret: string): Promise<number> => {
  const by = { id: client.id, secret };
  return (await service.http.token({ grant_type: 'client_credentials' }, by)).status;
};
const newSecretOn = (page: Page): string => page.html.querySelector('[data-copy]')!.text;
const rowsOf = (page: Page): string[] =>
  page.html.querySelectorAll('main tbody tr').map(({ text }) => text.replace(/\s+/g, ' '));

describe('The credentials of a client', () => {
  const rotate = async (browser: BrowserSession, keep: string): Promise<string> => {
    const answer = await browser.submit(await browser.open(PATH), ROTATE, { keep });
    expect(answer.headers.get('location')).toBe(`${PATH}/secret`);
    return newSecretOn(await browser.open(`${PATH}/secret`));
  };

  it('are shown without a secret, and the secret is rotated with the old one kept for a while', async () => {
    const browser = await inPortal(await member('admin'));
    const page = await browser.open(PATH);
    expect(page.text).toContain(client.id);
    expect(page.text).not.toContain(client.secret);
    const secret = await rotate(browser, '3600');
    expect([await token(secret), await token(client.secret)]).toEqual([200, 200]);
    const rows = rowsOf(await browser.open(PATH));
    expect(rows).toHaveLength(2);
    expect(rows[1]).toContain('Old, still valid');
    const [left] = await service.database.query<{ seconds: number }>(
      'SELECT extract(epoch FROM expires_at - now())::int AS seconds FROM client_secrets WHERE client_id = $1 AND expires_at IS NOT NULL',
      [client.id],
    );
    expect(left!.seconds).toBeGreaterThan(3000);
    expect(left!.seconds).toBeLessThanOrEqual(3600);
  });

  it('show a new secret once, to whoever made it', async () => {
    const [first, second] = [await inPortal(owner), await inPortal(await member('admin'))];
    const answer = await first.submit(await first.open(PATH), ROTATE, { keep: '0' });
    expect(answer.status).toBe(303);
    expect((await second.open(`${PATH}/secret`)).html.querySelector('[data-copy]')).toBeNull();
    const secret = newSecretOn(await first.open(`${PATH}/secret`));
    expect([await token(secret), await token(client.secret)]).toEqual([200, 401]);
    const again = await first.open(`${PATH}/secret`);
    expect([again.text.includes(secret), wordsOf(again)]).toEqual([
      false,
      expect.stringContaining('The secret was already shown'),
    ]);
    expect(await auditEventsOn(service, client.id, 'client.secret_rotated')).toMatchObject([
      { actor_type: 'user', actor_id: owner.id },
    ]);
  });

  it('are rotated once, however often the form is sent, also at once', async () => {
    const browser = await inPortal(owner);
    const page = await browser.open(PATH);
    const answers = await Promise.all(
      [1, 2, 3].map(() => browser.submit(page, ROTATE, { keep: '3600', ...postedAnew() })),
    );
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    expect(rowsOf(await browser.open(PATH))).toHaveLength(2);
  });

  it('end an old secret now, and never the newest', async () => {
    const browser = await inPortal(owner);
    const secret = await rotate(browser, '604800');
    const link = await enterPortal(service, { ...client, secret });
    const page = await browser.open(PATH);
    expect((await browser.submit(page, END)).headers.get('location')).toBe(PATH);
    expect([await token(secret), await token(client.secret)]).toEqual([200, 401]);
    // Whoever held the old secret may have opened the portal with it.
    expect((await link.open('/portal')).status).toBe(401);
    expect((await browser.submit(page, END, postedAnew())).status).toBe(409);
    const newest = page.html.querySelector(`form[action="${ROTATE}"] input[name=newest]`)!;
    for (const name of [newest.getAttribute('value')!, 'none', '']) {
      expect((await browser.submit(page, END, { secret: name })).status).toBe(409);
    }
    expect(await token(secret)).toBe(200);
  });

  it('are listed for 30 days after their end', async () => {
    const browser = await inPortal(owner);
    await rotate(browser, '0');
    const ended = (days: number) =>
      service.database.query(
        'UPDATE client_secrets SET expires_at = now() - make_interval(days => $2) WHERE client_id = $1 AND expires_at IS NOT NULL',
        [client.id, days],
      );
    await ended(29);
    expect(rowsOf(await browser.open(PATH))).toEqual([
      expect.stringContaining('Valid'),
      expect.stringContaining('Ended'),
    ]);
    await ended(30);
    expect(rowsOf(await browser.open(PATH))).toEqual([expect.stringContaining('Valid')]);
    expect(await token(client.secret)).toBe(401);
  });

  it('tell the admins of every change', async () => {
    const admin = await member('admin');
    const developer = await member('developer');
    await rotate(await inPortal(admin), '0');
    const told = await service.database.query<{ user_id: string }>(
      "SELECT user_id FROM notifications WHERE message_id = 'ERR2904' AND user_id = ANY ($1) ORDER BY user_id",
      [[owner.id, admin.id, developer.id]],
    );
    expect(told.map(({ user_id }) => user_id)).toEqual([owner.id, admin.id].sort());
  });

  it('are changed by admins alone, with what the form offers', async () => {
    const admin = await inPortal(owner);
    const page = await admin.open(PATH);
    const wrong = await admin.submit(page, ROTATE, { keep: '5' });
    expect([wrong.status, errorAt(wrong, 'keep')]).toEqual([400, 'Choose one of these.']);
    expect((await admin.submit(page, ROTATE, { newest: undefined })).status).toBe(400);
    const [form] = page.html.querySelectorAll(`form[action="${ROTATE}"]`);
    expect(form).toBeDefined();
    for (const role of ['viewer', 'developer'] as const) {
      const browser = await inPortal(await member(role));
      expect((await browser.open(PATH)).html.querySelector(`form[action="${ROTATE}"]`)).toBeNull();
      const forced = await browser.open(ROTATE, { form: { keep: '0' }, headers: { origin: service.url } });
      expect([role, forced.status]).toEqual([role, 403]);
    }
    const open = await service.make.client({ type: 'public', ownerId: owner.id });
    const ofPublic = await (await inPortal(owner, open)).open(PATH);
    expect(wordsOf(ofPublic)).toContain('This is a public client, so it has no secret.');
    expect(await token(client.secret)).toBe(200);
  });

  it('say to the hour when a secret was last used, from any instance, without a write in the request', async () => {
    const browser = await inPortal(owner);
    expect(rowsOf(await browser.open(PATH))[0]).toContain('not yet');
    const [begun] = await service.database.query<{ at: Date }>('SELECT now() AS at');
    for (const { http } of service.instances) {
      await http.token({ grant_type: 'client_credentials' }, client);
    }
    expect(rowsOf(await browser.open(PATH))[0]).not.toContain('not yet');
    const uses = await service.database.query<{ exact: boolean }>(
      // An hour may have ended in the meantime.
      `SELECT last_used_at IN (date_trunc('hour', $2::timestamptz, 'UTC'), date_trunc('hour', now(), 'UTC')) AS exact
         FROM client_secret_uses WHERE client_id = $1`,
      [client.id, begun!.at],
    );
    expect(uses).toEqual([{ exact: true }]);
    await token(newSecret('clientSecret'));
    await service.database.query('DELETE FROM clients WHERE id = $1', [client.id]);
    expect(
      await service.database.query('SELECT 1 FROM client_secret_uses WHERE client_id = $1', [client.id]),
    ).toEqual([]);
  });
});

describe('The requests of a client', () => {
  const LOG = '/portal/requests';
  const wait = async (): Promise<void> => {
    for (const { app } of service.instances) await app.get(RequestLogService).flush();
  };

  it('come 50 on a page, with the filter, and the way back', async () => {
    await service.database.query(
      `INSERT INTO client_requests (client_id, occurred_at, method, route, status, request_id, milliseconds, injected)
       SELECT $1, now() - make_interval(secs => n), 'GET', '/v2/users', 503, 'paged-' || n, 1, false FROM generate_series(1, 120) n`,
      [client.id],
    );
    const portal = await inPortal(await member('viewer'));
    const idsOn = (page: Page) =>
      page.html.querySelectorAll('tbody tr').map((row) => /paged-\d+/.exec(row.text)![0].slice(6));
    const follow = (page: Page, rel: string) =>
      portal.open(page.html.querySelector(`.pager a[rel=${rel}]`)!.getAttribute('href')!);
    const from = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, n) => String(first + n));

    const first = await portal.open(`${LOG}?status=5xx`);
    const second = await follow(first, 'next');
    const third = await follow(second, 'next');
    expect([idsOn(first), idsOn(second), idsOn(third)]).toEqual([from(1, 50), from(51, 100), from(101, 120)]);
    expect(third.html.querySelector('.pager a[rel=next]')).toBeNull();
    expect(idsOn(await follow(third, 'prev'))).toEqual(from(51, 100));
  });

  it('are listed with what became of them, newest first, and nothing else of them', async () => {
    const bearer = await service.make.clientToken(client);
    await service.http.send('/v2/users?page_size=7', { bearer });
    await service.http.send('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735', { bearer });
    await service.http.token({ grant_type: 'refresh_token', refresh_token: 'x' }, client);
    const headers = { 'x-request-id': 'mine-1' };
    await service.http.send('/v2/events', { bearer, json: { type: 'a-body' }, headers });
    await service.http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: 'wrong' });
    await wait();
    const page = await (await inPortal(await member('viewer'))).open(LOG);
    const rows = rowsOf(page);
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatch(/mine-1: POST \/v2\/events403\d+ ms.* UTCinsufficient_scope$/);
    expect(rows[1]).toMatch(/[0-9A-Z]{26}: POST \/o\/token400\d+ ms.* UTCinvalid_grant$/);
    expect(rows[2]).toMatch(/[0-9A-Z]{26}: GET \/v2\/users\/:id404\d+ ms.* UTCnot-found$/);
    expect(rows[3]).toMatch(/[0-9A-Z]{26}: GET \/v2\/users200\d+ ms/);
    expect(rows[4]).toMatch(/[0-9A-Z]{26}: POST \/o\/token200\d+ ms/);
    for (const hidden of ['page_size', 'a-body', bearer, '127.0.0.1', 'user01HN']) {
      expect(page.text).not.toContain(hidden);
    }
    const stored = await service.database.query(
      'SELECT t::text FROM client_requests t WHERE client_id = $1',
      [client.id],
    );
    expect(JSON.stringify(stored)).not.toMatch(/page_size|a-body|127\.0\.0\.1|user01HN|cds_/);
  });

  it('are filtered by status, and another client’s stay hidden', async () => {
    const other = await service.make.client({ ownerId: owner.id });
    const bearer = await service.make.clientToken(client);
    await service.http.send('/v2/users', { bearer });
    await service.http.send('/v2/users/user01HN2NJ9NMRZBXT1H6FT9N7735', { bearer });
    await wait();
    const browser = await inPortal(owner);
    const counts = ['', '2xx', '4xx', '404', '429', '5xx', 'x'].map(async (status) => [
      status,
      rowsOf(await browser.open(`${LOG}?status=${status}`)).length,
    ]);
    expect(await Promise.all(counts)).toEqual([
      ['', 3],
      ['2xx', 2],
      ['4xx', 1],
      ['404', 1],
      ['429', 0],
      ['5xx', 0],
      ['x', 3],
    ]);
    expect(rowsOf(await (await inPortal(owner, other)).open(LOG))).toEqual([]);
  });

  it('with a token of the client that has ended are among them', async () => {
    const bearer = await service.make.clientToken(client);
    await service.database.query('UPDATE clients SET token_epoch = token_epoch + 1 WHERE id = $1', [
      client.id,
    ]);
    expect((await service.http.send('/v2/users', { bearer })).status).toBe(401);
    const [newest] = rowsOf(await (await inPortal(owner)).open(LOG));
    expect(newest).toMatch(/[0-9A-Z]{26}: GET \/v2\/users401\d+ ms.* UTCinvalid_token$/);
  });

  it('are kept up to 200, the newest, and those of all instances', async () => {
    await service.database.query(
      `INSERT INTO client_requests (client_id, occurred_at, method, route, status, request_id, milliseconds)
       SELECT $1, now() - make_interval(mins => n), 'GET', '/old', 200, n::text, 1 FROM generate_series(1, 250) n`,
      [client.id],
    );
    for (const { http } of service.instances) await http.token({ grant_type: 'client_credentials' }, client);
    await wait();
    const kept = await service.database.query<{ n: number; old: number; oldest: string }>(
      `SELECT count(*)::int AS n, count(*) FILTER (WHERE route = '/old')::int AS old,
              max(request_id) FILTER (WHERE route = '/old' AND request_id = '198') AS oldest
         FROM client_requests WHERE client_id = $1`,
      [client.id],
    );
    expect(kept).toEqual([{ n: 200, old: 198, oldest: '198' }]);
  });

  it('that were refused are counted by reason, with what to do', async () => {
    const by = client;
    await service.http.token({ grant_type: 'refresh_token', refresh_token: 'x' }, by);
    await service.http.token({ grant_type: 'client_credentials' }, { ...by, secret: 'wrong' });
    const browser = await inPortal(await member('viewer'));
    const rows = rowsOf(await browser.open('/portal/refusals'));
    expect(rows.toSorted()).toEqual([
      expect.stringMatching(/^Malformed refresh token.*400 invalid_grant.*UTC1$/),
      expect.stringMatching(/^Wrong secret.*401 invalid_client.*UTC1$/),
    ]);
  });

  it('and what remains of the limit are shown over time', async () => {
    await service.make.updateClient(client, { rateLimit: 20 });
    const bearer = await service.make.clientToken(client);
    for (let n = 0; n < 22; n++) await service.http.send('/v2/users', { bearer });
    // A test that was refused in the portal is no request of the client.
    const { id } = client;
    service.app
      .get(ActivityService)
      .count({ kind: 'rate_limited', detail: 'portal', client: { id, environment: 'live' } });
    await wait();
    for (const path of ['/portal/usage', '/portal/usage?range=7d']) {
      const page = await (await inPortal(await member('viewer'))).open(path);
      expect(wordsOf(page)).toMatch(/Limit\s*20 requests in any hour/);
      expect(wordsOf(page)).toMatch(/What remains now\s*0 requests/);
      expect(page.html.querySelector('svg[role=group] title')!.text).toContain('21 answered, 2 over a limit');
    }
  });
});

it('The credentials say what the client has to prove', async () => {
  const browser = await inPortal(owner);
  expect(wordsOf(await browser.open(PATH))).not.toContain('DPoP');
  await service.make.updateClient(client, { dpopBoundAccessTokens: true });
  expect(wordsOf(await browser.open(PATH))).toMatch(/DPoP\s*required/);
});

describe('The keys of a client that has keys instead of a secret', () => {
  const ADD = `${PATH}/keys/add`;
  const END_KEY = `${PATH}/keys/end`;
  const keys = madeOnce(async () => ({ first: await newKey(), second: await newKey('EdDSA') }));
  const accepts = async (key: ClientKey): Promise<number> => {
    const form = byAssertion(await assertionOf(key, client.id, service.url));
    return (await service.http.token({ grant_type: 'client_credentials', ...form })).status;
  };
  beforeEach(() =>
    service.make.updateClient(client, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: { keys: [keys.first.publicJwk as never] },
    }),
  );

  it('are added and ended by admins, never the only one, and no secret is there', async () => {
    const browser = await inPortal(owner);
    const page = await browser.open(PATH);
    expect([page.text.includes(keys.first.kid), page.text.includes('Rotate')]).toEqual([true, false]);
    expect(page.html.querySelector(`form[action="${END_KEY}"]`)).toBeNull();
    for (const jwk of [keys.first.publicJwk, keys.second.privateJwk, { kty: 'oct' }, [], 7, '{']) {
      const text = typeof jwk === 'string' ? jwk : JSON.stringify(jwk);
      const refused = await browser.submit(page, ADD, { jwk: text, ...postedAnew() });
      expect([text, refused.status, errorAt(refused, 'jwk')]).toEqual([
        text,
        400,
        expect.stringMatching(/JWK/),
      ]);
    }
    expect(await accepts(keys.second)).toBe(401);
    const added = { jwk: JSON.stringify(keys.second.publicJwk), ...postedAnew() };
    expect((await browser.submit(page, ADD, added)).headers.get('location')).toBe(PATH);
    expect([await accepts(keys.first), await accepts(keys.second)]).toEqual([200, 200]);
    const two = await browser.open(PATH);
    expect(rowsOf(two)).toHaveLength(2);
    expect((await browser.submit(two, END_KEY)).headers.get('location')).toBe(PATH);
    expect([await accepts(keys.first), await accepts(keys.second)]).toEqual([401, 200]);
    for (const key of ['', 'x', await calculateJwkThumbprint(keys.second.publicJwk)]) {
      expect((await browser.submit(two, END_KEY, { key, ...postedAnew() })).status).toBe(409);
    }
    expect(await accepts(keys.second)).toBe(200);
    const told = await service.database.query(
      "SELECT 1 FROM notifications WHERE message_id = 'ERR2904' AND user_id = $1",
      [owner.id],
    );
    expect(told).toHaveLength(2);
  });

  it('are only read by other members', async () => {
    for (const role of ['viewer', 'developer'] as const) {
      const browser = await inPortal(await member(role));
      const page = await browser.open(PATH);
      expect([page.text.includes(keys.first.kid), page.html.querySelector(`form[action="${ADD}"]`)]).toEqual([
        true,
        null,
      ]);
      const forced = await browser.open(ADD, { form: { jwk: '{}' }, headers: { origin: service.url } });
      expect([role, forced.status]).toEqual([role, 403]);
    }
  });
});
