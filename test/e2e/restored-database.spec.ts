import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { isAccepted, madeOnce, refresh, type Tokens, until } from '../support/spec.js';
import { copyTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type TestInstance, startInstance, useService } from '../support/test-service.js';

/**
 * An instance on a database that was restored from a dump, on the same server: its transaction numbers continue from those of the
 * dumped database, and it has the same keys.
 */
describe('An instance on a restored database', () => {
  const lost = useService();
  let copy: TestDatabase;
  let restored: TestInstance;
  let before: Tokens;

  const client = madeOnce(() => lost.make.client());
  const revokedSince = madeOnce(() => lost.make.client());
  beforeAll(async () => {
    before = await lost.make.tokens(client, await lost.make.user());
    copy = await copyTestDatabase(lost.database);
    restored = await startInstance(copy, {});
    await until('it is there again', async () => (await lost.http.get('/health/ready')).status === 200);
  });
  afterAll(async () => {
    await restored?.app.close();
    await copy?.drop();
  });

  /** Checks the token when the instance answers from its cache, including the client. */
  async function isTaken(token: string, of = client): Promise<boolean> {
    await restored.http.token({ grant_type: 'client_credentials' }, of);
    await until('it has read the changes', () => restored.app.get(AccessChanges).isTrusted);
    return isAccepted(restored.http, token);
  }

  it('refuses a token of a grant that was issued after the dump', async () => {
    const { access_token } = await lost.make.tokens(client, await lost.make.user());
    expect(await isAccepted(lost.http, access_token)).toBe(true);
    expect(await isTaken(access_token)).toBe(false);
  });

  it('refuses tokens of a refresh that happened after the dump', async () => {
    const later = (await refresh(lost.http, client, before.refresh_token)).json as Tokens;
    expect(await isAccepted(lost.http, later.access_token)).toBe(true);
    expect(await isTaken(later.access_token)).toBe(false);
    expect((await refresh(restored.http, client, later.refresh_token)).status).toBe(400);
  });

  it("refuses a token that was issued after the dump and after a revocation of all the client's tokens, even after the same revocation here", async () => {
    const endAll = ({ app }: TestInstance) =>
      app.get(ClientsService).revokeTokens(revokedSince.id, SERVICE_ACTOR);
    const second = async () =>
      (await copy.query<{ n: number }>('SELECT extract(epoch FROM now())::int AS n'))[0]!.n;
    await endAll(lost);
    const ended = await second();
    const token = await lost.make.clientToken(revokedSince);
    expect(await isAccepted(lost.http, token)).toBe(true);
    expect(await isTaken(token, revokedSince)).toBe(false);
    // No real restore takes less time.
    await until('the second is over', async () => (await second()) > ended);
    await endAll(restored);
    expect(await isTaken(token, revokedSince)).toBe(false);
  });

  it('accepts tokens that were issued before the dump', async () => {
    expect(await isTaken(before.access_token)).toBe(true);
    expect((await refresh(restored.http, client, before.refresh_token)).status).toBe(200);
  });
});
