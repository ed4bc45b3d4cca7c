import { PageTurns } from '#platform/http/page-routes/page-turns.js';
import { keptFree } from '#platform/database/connections/shared-pool.js';
import { type BrowserSession, madeOnce, PATIENT, useService } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { connectionTo } from '../support/test-database.js';

const POOL_SIZE = 8;
const SHARED = POOL_SIZE - keptFree(POOL_SIZE);

/* Contract §14: DATABASE_POOL_SIZE. */
describe('However many pages wait for the database,', () => {
  const service = useService({ env: { DATABASE_POOL_SIZE: String(POOL_SIZE) }, databaseOptions: PATIENT });
  const client = madeOnce(() => service.make.client());
  const introspecting = madeOnce(() => service.make.operatorClient());
  const user = madeOnce(() => service.make.user());
  let browser: BrowserSession;
  beforeAll(async () => void (browser = await service.make.signedIn(user)));

  it('tokens, introspection and bearer requests are answered', async () => {
    const { access_token: access, refresh_token: refresh } = await service.make.tokens(client, user);
    const bearer = await service.make.clientToken(client);
    const holder = await connectionTo(service);
    await holder.query('BEGIN');
    // Every page looks its session up.
    await holder.query('LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE');
    let answered = 0;
    const pages = Array.from({ length: 4 * POOL_SIZE }, () =>
      browser.open('/account/sessions').finally(() => answered++),
    );
    await untilWaitingForLocks(service.database, SHARED);
    const { http } = service;
    const refreshed = await http.token({ grant_type: 'refresh_token', refresh_token: refresh! }, client);
    const introspected = await http.send('/o/introspect/', { form: { token: access }, basic: introspecting });
    const users = await http.get('/v2/users', { bearer });
    const link = await http.get('/webhook_portal', { bearer });
    const token = await http.token({ grant_type: 'client_credentials' }, client);
    expect([refreshed, introspected, users, link, token].map(({ status }) => status)).toEqual(
      Array(5).fill(200),
    );
    expect(answered).toBe(0);
    await holder.query('COMMIT');
    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('one too many is refused at once, and told when to come back', async () => {
    const areFull = jest.spyOn(service.app.get(PageTurns), 'areFull', 'get').mockReturnValue(true);
    for (const path of ['/account', '/login', '/nothing']) {
      const refused = await browser.open(path);
      expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 503, '5']);
      expect(refused.html.text).toContain('Very many pages are being opened at the moment.');
    }
    expect(
      (await service.http.get('/v2/users', { bearer: await service.make.clientToken(client) })).status,
    ).toBe(200);
    areFull.mockRestore();
  });
});
