import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { ClientsService } from '../../src/clients/clients.service.js';
import { AccessChanges } from '../../src/database/access-changes.service.js';
import type { TestClient, Tokens } from '../support/factory.js';
import { isAccepted, refresh } from '../support/oauth.js';
import { copyTestDatabase, type TestDatabase } from '../support/test-database.js';
import { startInstance, startService, type TestInstance, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';

/**
 * An instance over a database that was restored from a dump, on the same server: its transactions have numbers that go on from those of
 * the one that was dumped, and it has the same keys.
 */
describe('a database that was restored from a dump', () => {
  let lost: TestService;
  let copy: TestDatabase;
  let restored: TestInstance;
  let client: TestClient;
  let revokedSince: TestClient;
  let before: Tokens;

  beforeAll(async () => {
    lost = await startService();
    client = await lost.make.client();
    revokedSince = await lost.make.client();
    before = await lost.make.tokens(client, await lost.make.user());
    copy = await copyTestDatabase(lost.database);
    restored = await startInstance(copy, {});
    await until('it is there again', async () => (await lost.http.get('/health/ready')).status === 200);
  });
  afterAll(async () => {
    await restored?.app.close();
    await copy?.drop();
    await lost.stop();
  });

  /** Once it relies on what it remembers, of the client too. */
  async function isTaken(token: string, of = client): Promise<boolean> {
    await restored.http.token({ grant_type: 'client_credentials' }, { id: of.id, secret: of.secret });
    await until('it has read the changes', () => restored.app.get(AccessChanges).isTrusted);
    return isAccepted(restored.http, token);
  }

  it('does not know a token of a grant that was given after it', async () => {
    const { access_token } = await lost.make.tokens(client, await lost.make.user());
    expect(await isAccepted(lost.http, access_token)).toBe(true);
    expect(await isTaken(access_token)).toBe(false);
  });

  it('does not know a token of a refresh that came after it', async () => {
    const later = (await refresh(lost.http, client, before.refresh_token)).json as Tokens;
    expect(await isAccepted(lost.http, later.access_token)).toBe(true);
    expect(await isTaken(later.access_token)).toBe(false);
    expect((await refresh(restored.http, client, later.refresh_token)).status).toBe(400);
  });

  it('brings no token back that a client was given after all of its tokens had ended, when they end here too', async () => {
    const endAll = ({ app }: TestInstance) =>
      app.get(ClientsService).revokeTokens(revokedSince.id, SERVICE_ACTOR);
    const second = async () =>
      (await copy.query<{ n: number }>('SELECT extract(epoch FROM now())::int AS n'))[0]!.n;
    await endAll(lost);
    const ended = await second();
    const token = await lost.make.clientToken(revokedSince);
    expect(await isAccepted(lost.http, token)).toBe(true);
    expect(await isTaken(token, revokedSince)).toBe(false);
    // No restore is quicker.
    await until('the second is over', async () => (await second()) > ended);
    await endAll(restored);
    expect(await isTaken(token, revokedSince)).toBe(false);
  });

  it('knows what was issued before it', async () => {
    expect(await isTaken(before.access_token)).toBe(true);
    expect((await refresh(restored.http, client, before.refresh_token)).status).toBe(200);
  });
});
