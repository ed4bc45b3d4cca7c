import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { LOOPBACK_ADDRESS } from '../support/foreign-conditions.js';
import { madeOnce, type Tokens, useSharedService } from '../support/spec.js';
import { auditEventsOn } from '../support/audit-events.js';
import { expectOAuthError, isAccepted, refresh, revoke } from '../support/oauth.js';
import {
  changeGrant,
  endGrace as endGraceOf,
  lifetimeOf,
  refreshRecordOf,
  strangeToken,
} from '../support/tokens.js';

const BOTH = 'charging_session:read vehicle:read';

const service = useSharedService();

const client = madeOnce(() => service.make.client());
const other = madeOnce(() => service.make.client());
const app = madeOnce(() => service.make.client({ type: 'public' }));
const user = madeOnce(() => service.make.user());

const use = (token: string, fields: Record<string, string | undefined> = {}, of = client) =>
  refresh(service.http, of, token, fields);

/** Refreshes, and expects success. */
async function rotated(
  token: string,
  fields: Record<string, string | undefined> = {},
  of = client,
): Promise<Tokens> {
  const answer = await use(token, fields, of);
  expect({ status: answer.status, error: answer.json.error as unknown }).toEqual({ status: 200 });
  return answer.json as Tokens;
}

const age = (token: string, change: string) => changeGrant(service, token, change);
const endGrace = (token: string) => endGraceOf(service, token);

interface Grant {
  id: string;
  scopes: string[];
  revoked: boolean;
  /** In seconds. */
  lifetime: number;
  /** How many seconds the current refresh token lives. */
  refresh: number;
}
async function grantOf(token: string): Promise<Grant> {
  const { grantId } = await refreshRecordOf(service, token);
  const rows = await service.database.query<Grant>(
    `SELECT id, scopes, revoked_at IS NOT NULL AS revoked, extract(epoch FROM expires_at - created_at)::int AS lifetime,
            extract(epoch FROM refresh_expires_at - issued_at)::int AS refresh FROM grants WHERE id = $1`,
    [grantId],
  );
  return rows[0]!;
}

describe('A refresh is refused', () => {
  it('with an unknown token or a token of another kind', async () => {
    const { access_token } = await service.make.tokens(client, user);
    for (const token of ['x', strangeToken('refresh'), access_token, 'cds_rt_☀', 'x'.repeat(5000)])
      expectOAuthError(await use(token), 400, 'invalid_grant');
  });

  it("with another client's token, which stays unchanged", async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    expectOAuthError(await use(refresh_token, {}, other), 400, 'invalid_grant');
    expectOAuthError(await use(refresh_token, {}, app), 400, 'invalid_grant');
    expect((await use(refresh_token)).status).toBe(200);
  });

  it('to a confidential client that does not authenticate', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    expectOAuthError(await use(refresh_token, { client_secret: undefined }), 401, 'invalid_client');
    expect((await use(refresh_token)).status).toBe(200);
  });

  it('with a wider scope than granted or a malformed one, and the token stays usable', async () => {
    const { refresh_token } = await service.make.tokens(client, user, 'vehicle:read');
    for (const scope of [BOTH, 'charging_session:read', 'admin:write', 'vehicle:read  vehicle:read', '"'])
      expectOAuthError(await use(refresh_token, { scope }), 400, 'invalid_scope');
    expect((await rotated(refresh_token)).scope).toBe('vehicle:read');
  });

  it('30 days after the token was issued', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    expect((await grantOf(refresh_token)).refresh).toBe(30 * 86_400);
    await age(refresh_token, 'refresh_expires_at = now()');
    expectOAuthError(await use(refresh_token), 400, 'invalid_grant');
  });

  it('a year after the grant was issued, when its access tokens also expire', async () => {
    const { access_token, refresh_token } = await service.make.tokens(client, user);
    expect((await grantOf(refresh_token)).lifetime).toBe(365 * 86_400);
    await age(refresh_token, 'expires_at = now()');
    expectOAuthError(await use(refresh_token), 400, 'invalid_grant');
    expect(await isAccepted(service.http, access_token)).toBe(false);
  });
});

describe('A rotation', () => {
  it.each(['confidential', 'public'] as const)(
    'issues a new pair and keeps the earlier access token (%s)',
    async (type) => {
      const of = type === 'public' ? app : client;
      const first = await service.make.tokens(of, user);
      const answer = await use(first.refresh_token, {}, of);
      expect(answer.json).toEqual({
        access_token: expect.stringMatching(/^cds_at_[\w-]{164}$/) as string,
        expires_in: 36000,
        token_type: 'Bearer',
        scope: BOTH,
        refresh_token: expect.stringMatching(/^cds_rt_[\w-]{78}$/) as string,
        refresh_token_expires_in: 2_592_000,
        authorization_expires_in: expect.any(Number) as number,
      });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('pragma')).toBe('no-cache');
      const second = answer.json as Tokens;
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(second.access_token).not.toBe(first.access_token);
      for (const { access_token } of [first, second])
        expect(await isAccepted(service.http, access_token)).toBe(true);
      const third = await rotated(second.refresh_token, {}, of);
      expect([first.refresh_token, second.refresh_token]).not.toContain(third.refresh_token);
    },
  );

  it('applies a narrower scope only to the new access token', async () => {
    const first = await service.make.tokens(client, user);
    const narrow = await rotated(first.refresh_token, { scope: 'vehicle:read' });
    expect(narrow.scope).toBe('vehicle:read');
    expect((await grantOf(first.refresh_token)).scopes.sort()).toEqual(BOTH.split(' '));
    expect((await rotated(narrow.refresh_token)).scope).toBe(BOTH);
  });

  it('extends the refresh token by 30 days, but not beyond the grant', async () => {
    const first = await service.make.tokens(client, user);
    const second = await rotated(first.refresh_token);
    expect((await grantOf(second.refresh_token)).refresh).toBe(30 * 86_400);
    await age(first.refresh_token, "expires_at = now() + interval '1 hour'");
    const third = await rotated(second.refresh_token);
    expect((await grantOf(third.refresh_token)).refresh).toBeLessThanOrEqual(3600);
    expect(await lifetimeOf(service, third.access_token)).toBeLessThanOrEqual(3600);
    // RFC 6749 §5.1: the lifetime in seconds of the access token.
    expect(third.expires_in).toBeLessThanOrEqual(3600);
  });

  it('grants what the consent still allows, and everything again when the consent is widened', async () => {
    const someone = await service.make.user();
    const first = await service.make.tokens(client, someone);
    await service.make.consent(client, someone, ['vehicle:read']);
    const second = await rotated(first.refresh_token);
    expect(second.scope).toBe('vehicle:read');
    await service.make.consent(client, someone);
    expect((await rotated(second.refresh_token)).scope).toBe(BOTH);
  });
});

describe('The same refresh token used again within the grace time', () => {
  it('returns the same pair with its remaining lifetime', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const first = await rotated(refresh_token);
    const again = await rotated(refresh_token);
    const lifetimes = { expires_in: 0, refresh_token_expires_in: 0, authorization_expires_in: 0 };
    expect({ ...again, ...lifetimes }).toEqual({ ...first, ...lifetimes });
    expect(again.expires_in).toBeGreaterThan(35_900);
    await age(refresh_token, "access_expires_at = access_expires_at - interval '1 hour'");
    const later = await rotated(refresh_token);
    expect(later.refresh_token).toBe(first.refresh_token);
    expect(later.expires_in).toBeLessThanOrEqual(32_400);
    expect(later.expires_in).toBeGreaterThan(32_300);
  });

  it('works for 60 seconds after the rotation', async () => {
    /** Uses a token that was rotated so long ago; `within`: whether it was still in time when it had been used. */
    const usedAfter = async (seconds: number) => {
      const { refresh_token: token } = await service.make.tokens(client, user);
      await rotated(token);
      await age(token, `rotations = ARRAY[now() - interval '${seconds} seconds']`);
      const answer = await use(token);
      const { id, revoked } = await grantOf(token);
      const sql = "SELECT now() < rotations[1] + interval '60 seconds' AS within FROM grants WHERE id = $1";
      const [row] = await service.database.query<{ within: boolean }>(sql, [id]);
      return { answer, revoked, within: row!.within };
    };
    let inTime = await usedAfter(57);
    // A busy machine may take the last three seconds.
    while (inTime.answer.status !== 200 && !inTime.within) inTime = await usedAfter(57);
    expect([inTime.answer.status, inTime.revoked]).toEqual([200, false]);
    const late = await usedAfter(60);
    expectOAuthError(late.answer, 400, 'invalid_grant');
    expect(late.revoked).toBe(true);
  });

  it('accepts the same scope in another order, and refuses another scope', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const first = await rotated(refresh_token);
    const again = await rotated(refresh_token, { scope: 'vehicle:read charging_session:read' });
    expect(again.access_token).toBe(first.access_token);
    expectOAuthError(await use(refresh_token, { scope: 'vehicle:read' }), 400, 'invalid_scope');
    expectOAuthError(await use(refresh_token, { scope: 'admin:read' }), 400, 'invalid_scope');
    expect((await rotated(refresh_token)).refresh_token).toBe(first.refresh_token);
    await rotated(first.refresh_token);
  });

  it('refuses the whole scope if a narrower one was requested the first time', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const first = await rotated(refresh_token, { scope: 'vehicle:read' });
    expectOAuthError(await use(refresh_token), 400, 'invalid_scope');
    expect(await rotated(refresh_token, { scope: 'vehicle:read' })).toMatchObject({ scope: 'vehicle:read' });
    expect((await rotated(first.refresh_token)).scope).toBe(BOTH);
  });

  it('is only refused, as a late duplicate, if the successor was used', async () => {
    const first = await service.make.tokens(client, user);
    const second = await rotated(first.refresh_token);
    const third = await rotated(second.refresh_token);
    expectOAuthError(await use(first.refresh_token), 400, 'invalid_grant');
    for (const { access_token } of [first, second, third])
      expect(await isAccepted(service.http, access_token)).toBe(true);
    expect((await rotated(second.refresh_token)).refresh_token).toBe(third.refresh_token);
    await rotated(third.refresh_token);
  });

  it('returns nothing to another client', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    const { access_token } = await rotated(refresh_token);
    expectOAuthError(await use(refresh_token, {}, other), 400, 'invalid_grant');
    expect(await isAccepted(service.http, access_token)).toBe(true);
  });

  it('returns nothing when grant or consent have ended', async () => {
    const someone = await service.make.user();
    const [one, two] = [
      await service.make.tokens(client, someone),
      await service.make.tokens(client, someone),
    ];
    const successor = await rotated(one.refresh_token);
    await rotated(two.refresh_token);
    await revoke(service.http, client, successor.refresh_token);
    expectOAuthError(await use(one.refresh_token), 400, 'invalid_grant');
    await service.app.get(ConsentsService).revoke(client.id, someone.id, SERVICE_ACTOR);
    expectOAuthError(await use(two.refresh_token), 400, 'invalid_grant');
  });
});

describe('A retired refresh token used after its grace time', () => {
  it('revokes the whole grant, and nothing else', async () => {
    const bystander = await service.make.tokens(client, user);
    const first = await service.make.tokens(client, user);
    const second = await rotated(first.refresh_token);
    const third = await rotated(second.refresh_token);
    await endGrace(first.refresh_token);
    expectOAuthError(await use(first.refresh_token), 400, 'invalid_grant');
    for (const { access_token, refresh_token } of [first, second, third]) {
      expect(await isAccepted(service.http, access_token)).toBe(false);
      expectOAuthError(await use(refresh_token), 400, 'invalid_grant');
    }
    expect(await isAccepted(service.http, bystander.access_token)).toBe(true);
    await rotated(bystander.refresh_token);
  });

  it('also revokes it when the successor was never used', async () => {
    const first = await service.make.tokens(app, user);
    const second = await rotated(first.refresh_token, {}, app);
    await endGrace(first.refresh_token);
    expectOAuthError(await use(first.refresh_token, {}, app), 400, 'invalid_grant');
    expectOAuthError(await use(second.refresh_token, {}, app), 400, 'invalid_grant');
    expect(await isAccepted(service.http, second.access_token)).toBe(false);
  });

  it('revokes it whatever scope is requested', async () => {
    const first = await service.make.tokens(client, user);
    await rotated(first.refresh_token);
    await endGrace(first.refresh_token);
    expect((await use(first.refresh_token, { scope: 'admin:write' })).status).toBe(400);
    expect(await grantOf(first.refresh_token)).toMatchObject({ revoked: true });
  });

  it('is recorded in the audit log once', async () => {
    const { refresh_token } = await service.make.tokens(client, user);
    await rotated(refresh_token);
    await endGrace(refresh_token);
    for (let n = 0; n < 3; n++) await use(refresh_token);
    const { id } = await grantOf(refresh_token);
    const after = { reason: 'refresh_token_replayed', user_id: user.id };
    expect(await auditEventsOn(service, id, 'grant.revoked')).toMatchObject([
      { actor_type: 'service', after, address: LOOPBACK_ADDRESS },
    ]);
  });

  it('revokes nothing when used by another client or without authentication', async () => {
    const first = await service.make.tokens(client, user);
    const second = await rotated(first.refresh_token);
    await endGrace(first.refresh_token);
    expectOAuthError(await use(first.refresh_token, {}, other), 400, 'invalid_grant');
    expectOAuthError(await use(first.refresh_token, {}, app), 400, 'invalid_grant');
    expectOAuthError(await use(first.refresh_token, { client_secret: 'wrong' }), 401, 'invalid_client');
    expect(await isAccepted(service.http, second.access_token)).toBe(true);
    await rotated(second.refresh_token);
  });

  it('cannot revive a revoked grant', async () => {
    const first = await service.make.tokens(client, user);
    const second = await rotated(first.refresh_token);
    const { id } = await grantOf(first.refresh_token);
    await service.app.get(GrantsService).revoke(id, 'grant_revoked', SERVICE_ACTOR);
    for (const token of [first.refresh_token, second.refresh_token])
      expectOAuthError(await use(token), 400, 'invalid_grant');
    await service.make.tokens(client, user);
    expectOAuthError(await use(second.refresh_token), 400, 'invalid_grant');
    expect(await isAccepted(service.http, second.access_token)).toBe(false);
  });
});
