import { authorizePath, type BrowserSession } from './browser-session.js';
import { REDIRECT_URI, type Tokens } from './factory.js';
import type { Answer } from './http.js';
import { madeForEach } from './made.js';
import { credentialsOf, exchange, expectOAuthError, isAccepted, refresh } from './oauth.js';
import { PATIENT, useService } from './test-service.js';

/** Expects a success or an OAuth error; anything else fails. */
function expectClean(answer: Answer): void {
  const refusals = { invalid_client: 401, invalid_grant: 400, unauthorized_client: 400 } as const;
  const error = answer.json?.error as keyof typeof refusals | undefined;
  if (answer.status !== 200) expectOAuthError(answer, refusals[error!] ?? 400, error ?? 'invalid_grant');
}

/**
 * Defines the tests of a deletion amid so many requests at once, in these rounds, each of which begins it a little later. The client has
 * so many grants.
 */
export function describeDeletionRaces(rounds: number[], atOnce = 20, grants = 3000): void {
  // Neither the rate limit nor the time limit of a statement is what is tested here.
  const service = useService({
    instances: 2,
    env: { OAUTH_RATE_LIMIT_PER_MINUTE: '1000000000' },
    databaseOptions: PATIENT,
  });
  let clients = 0;

  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());

  const request = () => ({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
  const httpOf = (n: number) => service.instances[n % service.instances.length]!.http;

  /** Adds grants of thousands of other users, so that deleting the client takes a while. */
  async function addGrants(number: number): Promise<void> {
    const id = (prefix: string) => `'${prefix}0' || lpad($1::int::text || n::text, 25, '0')`;
    const ofClient = ++clients;
    for (const sql of [
      `INSERT INTO users (id, email, email_key, name, kind, role)
       SELECT ${id('user')}, n || '-' || $1::int || '@many.example', n || '-' || $1::int || '@many.example', 'x', 'individual', 'user'
         FROM generate_series(10000, 9999 + $2::int) n WHERE $3::text IS NOT NULL`,
      `INSERT INTO consents (client_id, user_id, scopes)
       SELECT $3, ${id('user')}, '{vehicle:read}' FROM generate_series(10000, 9999 + $2::int) n`,
      `INSERT INTO grants (id, client_id, user_id, scopes, expires_at, token_key_id, token_era, token_position, access_expires_at,
                           refresh_expires_at, look_again_at)
       SELECT ${id('grnt')}, $3, ${id('user')}, '{vehicle:read}', now() + interval '1 year', 1, 0, 0, now(),
              now() + interval '1 year', now() + interval '1 year'
         FROM generate_series(10000, 9999 + $2::int) n`,
    ]) {
      await service.database.query(sql, [ofClient, number, client.id]);
    }
  }

  describe.each([
    ['a client with many grants is deleted', () => service.make.deleteClient(client)],
    ['a user is erased', () => service.make.eraseUser(user)],
  ])('While %s,', (what, erase) => {
    const isOfClient = what !== 'a user is erased';

    it.each(rounds)('refreshes succeed or are refused cleanly (round %i)', async (round) => {
      if (isOfClient) await addGrants(grants);
      const codes = await service.make.codes(client, user, atOnce);
      const given = await Promise.all(codes.map((code, n) => exchange(httpOf(n), client, code)));
      let rotations = 0;
      let erased = false;
      let erasing: Promise<unknown> | undefined;
      const start = () => (erasing = erase().finally(() => (erased = true)));
      /** Refreshes as fast as it can, until it is refused or the erasure is over. */
      const refreshOn = async (first: Tokens, n: number): Promise<{ last: Tokens; end: Answer }> => {
        for (let last = first; ;) {
          const answer = await refresh(httpOf(n), client, last.refresh_token);
          if (answer.status === 200) last = answer.json as Tokens;
          if (answer.status !== 200 || erased) return { last, end: answer };
          rotations += 1;
          if (rotations === atOnce * round) start().catch(() => undefined);
        }
      };
      const ends = await Promise.all(given.map(({ json }, n) => refreshOn(json as Tokens, n)));
      await erasing;
      for (const { last, end } of ends) {
        expectClean(end);
        expect(await isAccepted(service.http, last.access_token)).toBe(false);
      }
    });

    it.each(rounds)(
      'exchanges and client credentials succeed or are refused cleanly (round %i)',
      async (round) => {
        if (isOfClient) await addGrants(grants / 3);
        const codes = await service.make.codes(client, user, atOnce);
        const form = { grant_type: 'client_credentials', ...credentialsOf(client) };
        let answered = 0;
        let erasing: Promise<unknown> | undefined;
        const answers = await Promise.all(
          codes.map(async (code, n) => {
            const answer = await (n % 2 === 0
              ? exchange(httpOf(n), client, code)
              : httpOf(n + 1).token(form));
            answered += 1;
            if (answered === round) erasing = erase();
            return answer;
          }),
        );
        await erasing;
        for (const answer of answers) {
          expectClean(answer);
          if (answer.status !== 200) continue;
          // A client-credentials token stays valid when a user is erased.
          const lives = answer.json.refresh_token === undefined && !isOfClient;
          expect(await isAccepted(service.http, answer.json.access_token as string)).toBe(lives);
        }
      },
    );

    it.each(rounds)('the consent page does not answer 500 (round %i)', async () => {
      const browsers = await Promise.all(Array.from({ length: 6 }, () => service.make.signedIn(user)));
      const pages = await Promise.all(browsers.map((browser) => browser.open(authorizePath(request()))));
      const press = (browser: BrowserSession, n: number) =>
        browser.submit(pages[n]!, '/o/authorize/', { decision: 'authorize' });
      const [answers] = await Promise.all([Promise.all(browsers.map(press)), erase()]);
      for (const { status } of answers) expect([303, 400]).toContain(status);
    });
  });
}
