import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { PurgeService } from '#platform/database/purge/purge.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { madeOnce, newPkce, type Tokens, useService } from '../support/spec.js';
import { exchange, expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

// No code of one test expires during another, whose purge would delete it.
const service = useService({ instances: 2, env: { AUTHORIZATION_CODE_TTL_SECONDS: '600' } });
const client = madeOnce(() => service.make.client());
const user = madeOnce(() => service.make.user());

beforeAll(() => leaveOutScheduledPurges(service));

const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
const purge = (instance = 0): Promise<number> => service.instances[instance]!.app.get(PurgeService).purge();
const count = async (sql: string, params: unknown[] = []): Promise<number> =>
  (await service.database.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${sql}`, params))[0]!.n;

let inserted = 0;

/** Inserts this many revoked tokens that expire at the same time. */
const insertRevoked = (number: number, expires: string) =>
  query(
    `INSERT INTO revoked_access_tokens (id, expires_at)
     SELECT $3 || ' ' || n, now() + $1::interval FROM generate_series(1, $2) n`,
    [expires, number, ++inserted],
  );

describe('A purge', () => {
  it('deletes what has expired, and keeps the rest', async () => {
    const client = await service.make.client();
    const bearer = await service.make.clientToken(client);
    for (let n = 0; n < 2; n++) {
      await service.make.clientToken(client);
      await service.make.code(client, user);
      const { url } = (await service.http.get('/webhook_portal', { bearer })).json as { url: string };
      const browser = await service.make.signedIn(user);
      await browser.submit(await browser.open(new URL(url).pathname), new URL(url).pathname);
      await service.http.get('/webhook_portal', { bearer });
      await service.app.get(PasswordLinksService).create(user.id, SERVICE_ACTOR);
    }
    const tables = ['authorization_codes', 'sessions', 'portal_links', 'portal_sessions', 'password_links'];
    const ended: [table: string, rows: number, digest: unknown][] = [];
    for (const table of tables) {
      const rows = await count(table);
      const { digest } = (await query(`SELECT digest FROM ${table} ORDER BY created_at DESC LIMIT 1`))[0]!;
      await query(`UPDATE ${table} SET expires_at = now() - interval '1 second' WHERE digest = $1`, [digest]);
      ended.push([table, rows, digest]);
    }
    await purge();
    for (const [table, rows, digest] of ended) {
      expect({ table, rows: await count(table) }).toEqual({ table, rows: rows - 1 });
      expect(await count(`${table} WHERE digest = $1`, [digest])).toBe(0);
    }
  });

  it.each(
    Object.entries({
      provider_sign_ins: `INSERT INTO provider_sign_ins (state_digest, browser_digest, provider, sealed, user_id, expires_at)
       VALUES (sha256($1::bytea), sha256('x'), 'company', '\\x00', $2, now() - $3::interval)`,
      logout_tokens: `INSERT INTO logout_tokens (provider, jti_digest, expires_at)
       VALUES ('company' || left($2, 0), sha256($1::bytea), now() - $3::interval)`,
      pending_sign_ins: `INSERT INTO pending_sign_ins (digest, user_id, account_mark, expires_at)
       VALUES (sha256($1::bytea), $2, '\\x00', now() - $3::interval)`,
      webauthn_challenges: `INSERT INTO webauthn_challenges (digest, user_id, expires_at)
       VALUES (sha256($1::bytea), $2, now() - $3::interval)`,
      email_links: `INSERT INTO email_links (digest, purpose, user_id, email, email_key, expires_at)
       VALUES (sha256($1::bytea), 'verify', $2, 'a@mail.example', 'a@mail.example', now() - $3::interval)`,
    }),
  )('deletes a row of %s as soon as it has expired', async (table, insert) => {
    await query(insert, ['expired', user.id, '1 second']);
    await query(insert, ['valid', user.id, '-1 hour']);
    await purge();
    const digest = { provider_sign_ins: 'state_digest', logout_tokens: 'jti_digest' }[table] ?? 'digest';
    expect(await count(`${table} WHERE ${digest} = sha256('expired')`)).toBe(0);
    expect(await count(`${table} WHERE ${digest} = sha256('valid')`)).toBe(1);
  });

  it.each([
    [
      'approvals',
      `INSERT INTO approvals (id, action, subject_id, state, requested_by_type, requested_by_id, requested_by_person, expires_at)
       VALUES ($1, 'client.delete', $1, 'pending', 'user', $2, $2, now() - $3::interval)`,
      'appr' as const,
    ],
    [
      'mails',
      `INSERT INTO mails (id, kind, user_id, address, cause, state, finished_at)
       VALUES ($1, 'security', $2, 'a@mail.example', $1, 'sent', now() - $3::interval)`,
      'mail' as const,
    ],
  ])(
    'keeps a row of %s for 30 days after its end, so that operators can see it',
    async (table, insert, prefix) => {
      const [old, recent] = [newId(prefix), newId(prefix)];
      await query(insert, [old, user.id, '30 days 1 minute']);
      await query(insert, [recent, user.id, '29 days 23 hours']);
      await purge();
      expect(await count(`${table} WHERE id = $1`, [old])).toBe(0);
      expect(await count(`${table} WHERE id = $1`, [recent])).toBe(1);
    },
  );

  it('keeps a mail that still waits, however old', async () => {
    const id = newId('mail');
    await query(
      `INSERT INTO mails (id, kind, user_id, address, cause, sealed_content, created_at, next_attempt_at)
       VALUES ($1, 'security', $2, 'a@mail.example', $1, '\\x00', now() - interval '1 year', now() + interval '1 day')`,
      [id, user.id],
    );
    await purge();
    expect(await count('mails WHERE id = $1', [id])).toBe(1);
  });

  it('deletes more rows than fit in one batch', async () => {
    const before = await count('revoked_access_tokens');
    await insertRevoked(2500, '-1 second');
    await insertRevoked(1500, '1 hour');
    await purge();
    expect(await count('revoked_access_tokens WHERE expires_at < now()')).toBe(0);
    expect(await count('revoked_access_tokens')).toBe(before + 1500);
  });

  it('may run in two instances at once: each row is deleted once, and none is left', async () => {
    await insertRevoked(5000, '-1 second');
    const expired = await count('revoked_access_tokens WHERE expires_at < now()');
    const removed = await Promise.all([purge(0), purge(1), purge(0), purge(1)]);
    // A purge skips a batch that another run has locked; the next purge deletes what is left.
    removed.push(await purge());
    expect(removed.reduce((sum, each) => sum + each)).toBe(expired);
    expect(await count('revoked_access_tokens WHERE expires_at < now()')).toBe(0);
  });

  it('may run while tokens are issued and refreshed', async () => {
    await insertRevoked(3000, '-1 second');
    let { refresh_token } = await service.make.tokens(client, user);
    const purges = Promise.all([purge(0), purge(1)]);
    for (let n = 0; n < 5; n++) {
      const answer = await refresh(service.http, client, refresh_token);
      expect(answer.status).toBe(200);
      refresh_token = answer.json.refresh_token as string;
    }
    await purges;
    expect((await refresh(service.http, client, refresh_token)).status).toBe(200);
  });
});

describe('A grant', () => {
  /** Creates a code with its tokens, aged to just before the end of its grant's year. */
  async function agedFamily() {
    const pkce = newPkce();
    const code = await service.make.code(client, user, { pkce });
    const code_verifier = pkce.verifier;
    const first = (await exchange(service.http, client, code, { code_verifier })).json as Tokens;
    const second = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
    const third = (await refresh(service.http, client, second.refresh_token)).json as Tokens;
    const grants = await service.database.query<{ id: string }>(
      'SELECT grant_id AS id FROM authorization_codes WHERE digest = $1',
      [digestOf(code)],
    );
    const { id } = grants[0]!;
    const year = `- interval '364 days'`;
    await query(
      `UPDATE authorization_codes SET created_at = created_at ${year}, consumed_at = consumed_at ${year},
              expires_at = expires_at ${year} WHERE grant_id = $1`,
      [id],
    );
    await query(
      `UPDATE grants SET rotations = ARRAY(SELECT at ${year} FROM unnest(rotations) at) WHERE id = $1`,
      [id],
    );
    return { id, code, code_verifier, first, third };
  }

  it('keeps its code as long as the grant lives, so that a replay of the code is still detected', async () => {
    const { id, code, code_verifier, third } = await agedFamily();
    await purge();
    expect(await count('authorization_codes WHERE grant_id = $1', [id])).toBe(1);
    expect(await isAccepted(service.http, third.access_token)).toBe(true);
    expectOAuthError(await exchange(service.http, client, code, { code_verifier }), 400, 'invalid_grant');
    expect(await isAccepted(service.http, third.access_token)).toBe(false);
  });

  it('lets a replay of a retired refresh token be detected as long as the grant lives', async () => {
    const { first, third } = await agedFamily();
    await purge();
    expect(await isAccepted(service.http, third.access_token)).toBe(true);
    expectOAuthError(await refresh(service.http, client, first.refresh_token), 400, 'invalid_grant');
    expect(await isAccepted(service.http, third.access_token)).toBe(false);
  });

  it.each(
    Object.entries({
      revoked: 'UPDATE grants SET revoked_at = now() - $2::interval WHERE id = $1',
      expired: 'UPDATE grants SET expires_at = now() - $2::interval WHERE id = $1',
      'left unused until its refresh token expired': `UPDATE grants SET refresh_expires_at = now() - $2::interval, look_again_at = now() - $2::interval WHERE id = $1`,
    }),
  )('is deleted with its codes 30 days after it was %s, not earlier', async (_what, end) => {
    const { id } = await agedFamily();
    await query(end, [id, '29 days 23 hours']);
    await purge();
    expect(await count('grants WHERE id = $1', [id])).toBe(1);
    await query(end, [id, '30 days 1 minute']);
    await purge();
    expect(await count('grants WHERE id = $1', [id])).toBe(0);
    expect(await count('authorization_codes WHERE grant_id = $1', [id])).toBe(0);
  });

  it('that was refreshed is only checked again when its current refresh token expires', async () => {
    const { id, third } = await agedFamily();
    await query("UPDATE grants SET look_again_at = now() - interval '31 days' WHERE id = $1", [id]);
    await purge();
    expect(await count('grants WHERE id = $1 AND look_again_at = refresh_expires_at', [id])).toBe(1);
    expect((await refresh(service.http, client, third.refresh_token)).status).toBe(200);
  });

  it('does not take the consent with it when it is deleted', async () => {
    const someone = await service.make.user();
    await service.make.tokens(client, someone);
    await query(`UPDATE grants SET revoked_at = now() - interval '31 days' WHERE user_id = $1`, [someone.id]);
    await purge();
    expect(await count('grants WHERE user_id = $1', [someone.id])).toBe(0);
    expect(await count('consents WHERE user_id = $1 AND revoked_at IS NULL', [someone.id])).toBe(1);
  });
});

describe('The audit log', () => {
  it('is kept for a year and then deleted', async () => {
    const someone = await service.make.user();
    await query(
      `INSERT INTO audit_events (id, actor_type, action, subject_type, subject_id)
       SELECT first_audit_event_id(now() - age) || repeat('0', 16), 'service', 'of ' || age, 'user', $1
         FROM unnest('{364 days,365 days 1 minute}'::interval[]) age`,
      [someone.id],
    );
    await purge();
    expect(
      await query("SELECT action FROM audit_events WHERE subject_id = $1 AND action LIKE 'of %'", [
        someone.id,
      ]),
    ).toEqual([{ action: 'of 364 days' }]);
  });
});
