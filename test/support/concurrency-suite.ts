import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { BrowserSession, postedAnew } from './browser-session.js';
import { newPkce, REDIRECT_URI, type Tokens } from './factory.js';
import type { Answer, Http } from './http.js';
import { madeForEach } from './made.js';
import { credentialsOf, exchange, expectOAuthError, isAccepted, refresh, revoke } from './oauth.js';
import { PATIENT, useSharedService } from './test-service.js';
import { endGrace, refreshRecordOf } from './tokens.js';

/** In the first of them a change comes before all requests, in the last after four fifths of them. */
const ROUNDS = 5;

type Ending = (token: Tokens) => Promise<unknown>;

/** Defines the tests of what happens at once: with so many requests, in these rounds of those that are repeated: 1 to 5. */
export function describeConcurrency(rounds: number[], many: number): void {
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT });

  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => service.make.user());

  /** Sends all requests concurrently, alternating between the instances. */
  const atOnce = <T>(count: number, request: (http: Http, n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        request(service.instances[n % service.instances.length]!.http, n),
      ),
    );

  /** Sends all requests concurrently and runs `end` among them: in each round after more of them have been answered. */
  async function racing<T>(
    [number, round]: [number: number, round: number],
    request: (http: Http, n: number) => Promise<T>,
    end: () => Promise<unknown>,
  ): Promise<T[]> {
    const after = Math.floor(((round - 1) / ROUNDS) * number);
    let answered = 0;
    let ending = after === 0 ? end() : undefined;
    const answers = await atOnce(number, async (http, n) => {
      const answer = await request(http, n);
      answered += 1;
      if (answered === after) ending = end();
      return answer;
    });
    await ending;
    return answers;
  }

  const count = (sql: string, params: unknown[]) =>
    service.database.value<number>(`SELECT count(*)::int AS n FROM ${sql}`, params);

  /** Returns the tokens of the successful answers; fails for any answer that is neither a success nor a clean refusal. */
  function tokensIn(answers: Answer[], refusals: [status: 400 | 401, error: string][]): Tokens[] {
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      const known = refusals.find(([, error]) => error === answer.json?.error) ?? refusals[0]!;
      expectOAuthError(answer, known[0], known[1]);
    }
    return answers.filter(({ status }) => status === 200).map(({ json }) => json as Tokens);
  }

  async function expectNothingLive(tokens: Tokens[], of = client): Promise<void> {
    for (const { access_token, refresh_token } of tokens) {
      expect(await isAccepted(service.http, access_token)).toBe(false);
      expectOAuthError(await refresh(service.http, of, refresh_token), 400, 'invalid_grant');
    }
  }

  describe('Concurrent exchanges of one code', () => {
    it.each(rounds)('succeed only once, and create only one grant (round %i)', async () => {
      const pkce = newPkce();
      const code = await service.make.code(client, user, { pkce });
      const fields = { code_verifier: pkce.verifier };
      const answers = await atOnce(many, (http) => exchange(http, client, code, fields));
      const tokens = tokensIn(answers, [[400, 'invalid_grant']]);
      expect(tokens).toHaveLength(1);
      expect(await count('grants WHERE client_id = $1', [client.id])).toBe(1);
      // The others are replays: the tokens of the code are revoked, once.
      await expectNothingLive(tokens);
      const revoked = `audit_events WHERE action = 'grant.revoked' AND after->>'client_id' = $1`;
      expect(await count(revoked, [client.id])).toBe(1);
    });

    it('succeed only once if all but one send a wrong verifier', async () => {
      const pkce = newPkce();
      const code = await service.make.code(client, user, { pkce });
      const answers = await atOnce(many, (http, n) =>
        exchange(http, client, code, { code_verifier: n === many / 2 ? pkce.verifier : newPkce().verifier }),
      );
      const [tokens, ...more] = tokensIn(answers, [[400, 'invalid_grant']]);
      expect(more).toEqual([]);
      expect(await isAccepted(service.http, tokens!.access_token)).toBe(true);
      expect((await refresh(service.http, client, tokens!.refresh_token)).status).toBe(200);
    });
  });

  describe('Concurrent refreshes with one token', () => {
    it.each(rounds)('all get the same pair, and only one refresh token is live (round %i)', async () => {
      const first = await service.make.tokens(client, user);
      const answers = await atOnce(many, (http) => refresh(http, client, first.refresh_token));
      const pairs = tokensIn(answers, [[400, 'none is expected']]);
      expect(pairs).toHaveLength(many);
      const distinct = new Set(
        pairs.map((pair) => [pair.access_token, pair.refresh_token, pair.scope].join(' ')),
      );
      expect(distinct.size).toBe(1);
      expect(await count('grants WHERE client_id = $1 AND generation = 1', [client.id])).toBe(1);
      expect(await isAccepted(service.http, pairs[0]!.access_token)).toBe(true);
      expect((await refresh(service.http, client, pairs[0]!.refresh_token)).status).toBe(200);
    });

    it('give one new pair in each of ten generations', async () => {
      let token = (await service.make.tokens(client, user)).refresh_token;
      for (let generation = 0; generation < 10; generation++) {
        const answers = await atOnce(10, (http) => refresh(http, client, token));
        const next = new Set(tokensIn(answers, [[400, 'none']]).map((pair) => pair.refresh_token));
        expect(next.size).toBe(1);
        [token] = [...next] as [string];
      }
      expect(await count('grants WHERE client_id = $1 AND generation = 10', [client.id])).toBe(1);
    });

    it('revoke the grant once after the grace time', async () => {
      const first = await service.make.tokens(client, user);
      const second = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
      await endGrace(service, first.refresh_token);
      const answers = await atOnce(many, (http) => refresh(http, client, first.refresh_token));
      expect(tokensIn(answers, [[400, 'invalid_grant']])).toEqual([]);
      await expectNothingLive([first, second]);
      const revoked = `audit_events WHERE action = 'grant.revoked' AND after->>'client_id' = $1`;
      expect(await count(revoked, [client.id])).toBe(1);
    });
  });

  const endings: [name: string, end: Ending][] = [
    ['the client revokes the refresh token', (t) => revoke(service.http, client, t.refresh_token)],
    [
      'an operator revokes the grant',
      async (t) => {
        const { grantId } = await refreshRecordOf(service, t.refresh_token);
        await service.app.get(GrantsService).revoke(grantId, 'grant_revoked', SERVICE_ACTOR);
      },
    ],
    ['the consent is withdrawn', () => service.make.revokeConsent(client, user)],
    ['the user is disabled', () => service.make.setEnabled(user, false)],
  ];

  describe.each(endings)('While %s,', (_name, end) => {
    it.each(rounds)('concurrent refreshes leave no valid tokens in the family (round %i)', async (round) => {
      const first = await service.make.tokens(client, user);
      const second = (await refresh(service.http, client, first.refresh_token)).json as Tokens;
      // Some send the earlier token again, some use the current one.
      const answers = await racing(
        [many, round],
        (http, n) => refresh(http, client, (n % 5 === 0 ? first : second).refresh_token),
        () => end(second),
      );
      const pairs = tokensIn(answers, [[400, 'invalid_grant']]);
      await expectNothingLive([first, second, ...new Map(pairs.map((p) => [p.access_token, p])).values()]);
    });
  });

  describe('While a client is disabled,', () => {
    const disable = () => service.make.updateClient(client, { enabled: false });
    const enable = () => service.make.updateClient(client, { enabled: true });

    it.each(rounds)('exchanges give no token that is accepted afterwards (round %i)', async (round) => {
      const codes = await service.make.codes(client, user, 10);
      const answers = await racing([10, round], (http, n) => exchange(http, client, codes[n]!), disable);
      const tokens = tokensIn(answers, [
        [400, 'invalid_grant'],
        [401, 'invalid_client'],
      ]);
      await enable();
      await expectNothingLive(tokens);
      for (const code of codes)
        expectOAuthError(await exchange(service.http, client, code), 400, 'invalid_grant');
    });

    it.each(rounds)(
      'client credentials give no token that is accepted afterwards (round %i)',
      async (round) => {
        const form = { grant_type: 'client_credentials', ...credentialsOf(client) };
        const answers = await racing([many, round], (http) => http.token(form), disable);
        const tokens = tokensIn(answers, [
          [401, 'invalid_client'],
          [400, 'unauthorized_client'],
        ]);
        await enable();
        for (const { access_token } of tokens)
          expect(await isAccepted(service.http, access_token)).toBe(false);
      },
    );

    it('the consent page gives no code that is accepted afterwards', async () => {
      const browsers = await Promise.all(Array.from({ length: 8 }, () => service.make.signedIn(user)));
      const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
      const path = `/o/authorize/?${new URLSearchParams(request).toString()}`;
      const pages = await Promise.all(browsers.map((browser) => browser.open(path)));
      const [answers] = await Promise.all([
        Promise.all(
          browsers.map((browser, n) => browser.submit(pages[n]!, '/o/authorize/', { decision: 'authorize' })),
        ),
        disable(),
      ]);
      await enable();
      for (const answer of answers) {
        expect([303, 400]).toContain(answer.status);
        const code = new URL(answer.headers.get('location') ?? REDIRECT_URI).searchParams.get('code');
        if (code) expectOAuthError(await exchange(service.http, client, code), 400, 'invalid_grant');
      }
    });
  });

  describe('Concurrent submissions of one portal link', () => {
    it.each(rounds)('start exactly one session (round %i)', async () => {
      const bearer = await service.make.clientToken(client);
      const link = new URL((await service.http.get('/webhook_portal', { bearer })).json.url as string)
        .pathname;
      const browsers = Array.from(
        { length: 10 },
        (_, n) => new BrowserSession(service.instances[n % service.instances.length]!.url),
      );
      const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
      const tokens = pages.map((page) =>
        page.html.querySelector('input[name=csrf_token]')!.getAttribute('value')!,
      );
      const answers = await Promise.all(
        Array.from({ length: many }, (_, n) => n % browsers.length).map((n) =>
          // The base URL of both instances is the URL of the first.
          browsers[n]!.open(link, {
            form: { csrf_token: tokens[n], ...postedAnew() },
            headers: { origin: service.url },
          }),
        ),
      );
      const opened = answers.filter(({ status }) => status === 303);
      expect(opened).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 410)).toHaveLength(many - 1);
      expect(answers.filter(({ headers }) => headers.getSetCookie().length > 0)).toEqual(opened);
      expect(await count('portal_sessions WHERE client_id = $1', [client.id])).toBe(1);
      const inside = await Promise.all(browsers.map((browser) => browser.open('/portal')));
      expect(inside.filter(({ status }) => status === 200)).toHaveLength(1);
    });
  });

  describe('Both instances', () => {
    it('log no error in any of these tests', () => {
      const errors = service.instances
        .flatMap(({ log }) => log)
        .filter((line) => /"level":"(error|fatal)"/.test(line));
      expect(errors).toEqual([]);
    });
  });
}
