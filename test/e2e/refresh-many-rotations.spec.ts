import type { TestClient, Tokens } from '../support/factory.js';
import { expectOAuthError, refresh } from '../support/oauth.js';
import { startService, type TestService } from '../support/test-service.js';
import { refreshRecordOf } from '../support/tokens.js';

// Of so many rotations the grant's row keeps the moments.
const KEPT = 16;

/** Many rotations within one grace time: a client gone wild, or many at once that share a token. */
describe('a refresh token that was rotated just now', () => {
  let service: TestService;
  let client: TestClient;

  beforeAll(async () => {
    service = await startService();
    client = await service.make.client();
  });
  afterAll(() => service.stop());

  /** The first token of a grant that was rotated so many times, and the present one. */
  async function rotated(times: number): Promise<{ first: string; present: string }> {
    const { refresh_token: first } = await service.make.tokens(client, await service.make.user());
    let present = first;
    for (let n = 0; n < times; n++) {
      present = ((await refresh(service.http, client, present)).json as Tokens).refresh_token;
    }
    return { first, present };
  }
  const momentsKept = async (token: string) => {
    const { grantId } = await refreshRecordOf(service, token);
    const [row] = await service.database.query(
      'SELECT cardinality(rotations) AS n FROM grants WHERE id = $1',
      [grantId],
    );
    return row;
  };

  it('counts as replayed, and ends its grant, when sixteen were rotated after it', async () => {
    const { first, present } = await rotated(KEPT + 1);
    expect(await momentsKept(present)).toEqual({ n: KEPT });
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expectOAuthError(await refresh(service.http, client, present), 400, 'invalid_grant');
  });

  it('is a late duplicate, and ends nothing, when fewer were', async () => {
    const { first, present } = await rotated(KEPT);
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect((await refresh(service.http, client, present)).status).toBe(200);
  });
});
