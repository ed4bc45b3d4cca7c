import { expectOAuthError, madeOnce, refresh, type Tokens, useSharedService } from '../support/spec.js';
import { changeGrant, refreshRecordOf } from '../support/tokens.js';

// A token that was retired before so many rotations is past its grace time.
const REMEMBERED = 600;

/** Many rotations within one grace time, by a faulty client or by many that share a token. */
describe('A refresh token that was rotated within the grace time', () => {
  const service = useSharedService();

  const client = madeOnce(() => service.make.client());

  /** Rotates a grant's refresh token this many times. Returns the first and the current token. */
  async function rotated(times: number): Promise<{ first: string; present: string }> {
    const { refresh_token: first } = await service.make.tokens(client, await service.make.user());
    let present = first;
    for (let n = 0; n < times; n++)
      present = ((await refresh(service.http, client, present)).json as Tokens).refresh_token;
    return { first, present };
  }
  const isRevoked = async (token: string) => {
    const { grantId } = await refreshRecordOf(service, token);
    const [row] = await service.database.query<{ revoked: boolean }>(
      'SELECT revoked_at IS NOT NULL AS revoked FROM grants WHERE id = $1',
      [grantId],
    );
    return row!.revoked;
  };
  const remembered = async (token: string) => {
    const { grantId } = await refreshRecordOf(service, token);
    const [row] = await service.database.query(
      `SELECT rotated_generations AS generations, cardinality(rotations) AS times FROM grants WHERE id = $1`,
      [grantId],
    );
    return row;
  };
  const refreshed = async (token: string) =>
    ((await refresh(service.http, client, token)).json as Tokens).refresh_token;

  it('counts as replayed and revokes its grant when more rotations came later than are remembered', async () => {
    const { first, present } = await rotated(2);
    const later = `rotations = ARRAY[now()], rotated_generations = '{0}'`;
    await changeGrant(service, present, `generation = ${REMEMBERED}, ${later}`);
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect(await isRevoked(present)).toBe(false);
    await changeGrant(service, present, `generation = ${REMEMBERED + 1}`);
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect(await isRevoked(present)).toBe(true);
  });

  it('counts as replayed and revokes its grant if it shares the time of one that is past the grace time', async () => {
    const { first, present } = await rotated(3);
    const shared = `ARRAY[now() - interval '1 hour', now()], rotated_generations = '{0,2}'`;
    await changeGrant(service, present, `rotations = ${shared}`);
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect(await isRevoked(present)).toBe(true);
  });

  it('counts as a late duplicate and revokes nothing', async () => {
    const { first, present } = await rotated(20);
    expectOAuthError(await refresh(service.http, client, first), 400, 'invalid_grant');
    expect((await refresh(service.http, client, present)).status).toBe(200);
  });

  it('shares the time of another one of the same second, so that the row stays small; the latest has its own', async () => {
    const { present } = await rotated(3);
    // Whatever the time is: the one before the last is less than a second ago.
    await changeGrant(
      service,
      present,
      `rotations = ARRAY[now() - interval '50 seconds', now() + interval '1 hour', now()], rotated_generations = '{0,1,2}'`,
    );
    expect(await remembered(await refreshed(present))).toEqual({ generations: [0, 1, 3], times: 3 });
  });

  it('has its own time if the others were a second ago or more; those past the grace time are forgotten', async () => {
    const { present } = await rotated(4);
    const seconds = [3600, 61, 50, 2].map((ago) => `now() - interval '${ago} seconds'`).join();
    await changeGrant(service, present, `rotations = ARRAY[${seconds}], rotated_generations = '{0,1,2,3}'`);
    expect(await remembered(await refreshed(present))).toEqual({ generations: [2, 3, 4], times: 3 });
  });
});
