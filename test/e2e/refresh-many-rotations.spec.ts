import { madeOnce } from '../support/made.js';
import type { Tokens } from '../support/factory.js';
import { expectOAuthError, refresh } from '../support/oauth.js';
import { useSharedService } from '../support/test-service.js';
import { changeGrant, refreshRecordOf } from '../support/tokens.js';

// The grant's row stores the times of at most this many rotations.
const KEPT = 600;

/** Many rotations within one grace time, by a faulty client or by many that share a token. */
describe('A refresh token that was rotated within the grace time', () => {
  const service = useSharedService();

  const client = madeOnce(() => service.make.client());

  /** Rotates a grant's refresh token this many times. Returns the first and the current token. */
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

  it('counts as a late duplicate and revokes nothing', async () => {
    const { first, present } = await rotated(20);
    expect(await momentsKept(present)).toEqual({ n: 20 });
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect((await refresh(service.http, client, present)).status).toBe(200);
  });

  it('counts as replayed and revokes its grant when there were more later rotations than are kept', async () => {
    const { first, present } = await rotated(2);
    // A full list loses its oldest time with the next rotation.
    await changeGrant(service, present, `rotations = array_fill(now(), ARRAY[${KEPT}])`);
    const next = ((await refresh(service.http, client, present)).json as Tokens).refresh_token;
    expect(await momentsKept(next)).toEqual({ n: KEPT });
    // Without the time of the first token's rotation, the third-last.
    await changeGrant(service, next, 'rotations = rotations[1:2]');
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expectOAuthError(await refresh(service.http, client, next), 400, 'invalid_grant');
  });
});
