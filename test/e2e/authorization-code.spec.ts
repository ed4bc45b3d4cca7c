import { randomBytes, createHash } from 'node:crypto';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { newPkce, REDIRECT_URI, type Pkce, type TestClient, type Tokens } from '../support/factory.js';
import { madeOnce, useSharedService } from '../support/spec.js';
import { exchange, expectOAuthError, isAccepted, refresh } from '../support/oauth.js';
import { strangeToken } from '../support/tokens.js';

const OTHER_REDIRECT_URI = 'https://app.example/other';

const service = useSharedService();
const redirectUris = [REDIRECT_URI, OTHER_REDIRECT_URI];
const client = madeOnce(() => service.make.client({ redirectUris }));
const other = madeOnce(() => service.make.client({ redirectUris }));
const app = madeOnce(() =>
  service.make.client({ type: 'public', redirectUris: [...redirectUris, 'http://127.0.0.1/cb'] }),
);
const user = madeOnce(() => service.make.user());

const newCode = (of: TestClient, options: { pkce?: Pkce; scope?: string; redirectUri?: string } = {}) =>
  service.make.code(of, user, options);

/** Expects that the code was not used up: the real exchange succeeds. */
async function expectUsable(
  of: TestClient,
  code: string,
  fields: Record<string, string> = {},
): Promise<void> {
  const answer = await exchange(service.http, of, code, fields);
  expect({ status: answer.status, error: answer.json.error as unknown }).toEqual({ status: 200 });
}

const consumedAt = async (code: string): Promise<Date | null> => {
  return service.database.value<Date | null>(
    'SELECT consumed_at FROM authorization_codes WHERE digest = $1',
    [digestOf(code)],
  );
};

describe('An exchange is refused, and the code stays usable,', () => {
  it('without the code or the redirect URI', async () => {
    const code = await newCode(client);
    expectOAuthError(await exchange(service.http, client, code, { code: undefined }), 400, 'invalid_request');
    expectOAuthError(
      await exchange(service.http, client, code, { redirect_uri: undefined }),
      400,
      'invalid_request',
    );
    await expectUsable(client, code);
  });

  it('without client authentication', async () => {
    const code = await newCode(client);
    const answer = await exchange(service.http, client, code, { client_secret: undefined });
    expectOAuthError(answer, 401, 'invalid_client');
    await expectUsable(client, code);
  });

  it('by another client', async () => {
    const pkce = newPkce();
    const code = await newCode(app, { pkce });
    const code_verifier = pkce.verifier;
    for (const thief of [client, other]) {
      expectOAuthError(await exchange(service.http, thief, code, { code_verifier }), 400, 'invalid_grant');
      expectOAuthError(await exchange(service.http, thief, code), 400, 'invalid_grant');
    }
    await expectUsable(app, code, { code_verifier });
  });

  it('with another redirect URI', async () => {
    const code = await newCode(client);
    for (const redirect_uri of [
      OTHER_REDIRECT_URI,
      ...['/', '?', '#'].map((end) => `${REDIRECT_URI}${end}`),
      'https://APP.example/callback',
      'https://app.example:443/callback',
      'https://evil.example/callback',
      'x',
    ])
      expectOAuthError(await exchange(service.http, client, code, { redirect_uri }), 400, 'invalid_grant');
    await expectUsable(client, code);
  });

  it.each(['public', 'confidential'] as const)(
    'for a %s client with a wrong or missing verifier',
    async (type) => {
      const of = type === 'public' ? app : client;
      const pkce = newPkce();
      const code = await newCode(of, { pkce });
      const wrong = [
        newPkce().verifier,
        pkce.challenge,
        undefined,
        `${pkce.verifier}A`,
        pkce.verifier.toUpperCase(),
      ];
      for (const code_verifier of wrong)
        expectOAuthError(await exchange(service.http, of, code, { code_verifier }), 400, 'invalid_grant');
      expect(await consumedAt(code)).toBeNull();
      await expectUsable(of, code, { code_verifier: pkce.verifier });
    },
  );

  it('with a verifier for a code without a challenge', async () => {
    const code = await newCode(client);
    const code_verifier = newPkce().verifier;
    expectOAuthError(await exchange(service.http, client, code, { code_verifier }), 400, 'invalid_grant');
    await expectUsable(client, code);
  });

  it('with a verifier that is too short or too long, or has other characters', async () => {
    const pkce = newPkce();
    const code = await newCode(client, { pkce });
    const others = [' ', '+', '/', 'é'].map((other) => `${'a'.repeat(42)}${other}`);
    const malformed = [
      'a'.repeat(42),
      'a'.repeat(129),
      'a',
      ...others,
      `${'a'.repeat(43)}=`,
      `${'a'.repeat(43)}\n`,
    ];
    for (const code_verifier of malformed)
      expectOAuthError(await exchange(service.http, client, code, { code_verifier }), 400, 'invalid_request');
    await expectUsable(client, code, { code_verifier: pkce.verifier });
  });
});

describe('A code is refused', () => {
  it('if it is unknown', async () => {
    const codes = [
      'x',
      '',
      newSecret('authorizationCode'),
      strangeToken('refresh'),
      'cds_ac_☀',
      'x'.repeat(5000),
    ];
    for (const code of codes) {
      const answer = await exchange(service.http, client, code);
      expectOAuthError(answer, 400, code === '' ? 'invalid_request' : 'invalid_grant');
    }
  });

  it('once its minute is over, but not earlier', async () => {
    const code = await newCode(client);
    const seconds = await service.database.value<number>(
      `SELECT extract(epoch FROM expires_at - created_at)::int AS seconds FROM authorization_codes WHERE digest = $1`,
      [digestOf(code)],
    );
    expect(seconds).toBe(60);
    await service.database.query('UPDATE authorization_codes SET expires_at = now() WHERE digest = $1', [
      digestOf(code),
    ]);
    expectOAuthError(await exchange(service.http, client, code), 400, 'invalid_grant');
  });
});

describe('A code that is used a second time', () => {
  /** A used code with the tokens that were issued for it: the first ones and those of one refresh. */
  async function usedCode(
    of = client,
  ): Promise<{ code: string; code_verifier: string; access: string[]; last: string }> {
    const pkce = newPkce();
    const code = await newCode(of, { pkce });
    const first = (await exchange(service.http, of, code, { code_verifier: pkce.verifier })).json as Tokens;
    const second = (await refresh(service.http, of, first.refresh_token)).json as Tokens;
    return {
      code,
      code_verifier: pkce.verifier,
      access: [first.access_token, second.access_token],
      last: second.refresh_token,
    };
  }

  async function expectAlive(
    { access, last }: { access: string[]; last: string },
    of = client,
  ): Promise<void> {
    for (const token of access) expect(await isAccepted(service.http, token)).toBe(true);
    expect((await refresh(service.http, of, last)).status).toBe(200);
  }

  it.each(['confidential', 'public'] as const)(
    'is refused, and revokes every token issued for it, including refreshed ones (%s client)',
    async (type) => {
      const of = type === 'public' ? app : client;
      const used = await usedCode(of);
      const bystander = await usedCode(of);
      const { code_verifier } = used;
      expectOAuthError(await exchange(service.http, of, used.code, { code_verifier }), 400, 'invalid_grant');
      for (const token of used.access) expect(await isAccepted(service.http, token)).toBe(false);
      expectOAuthError(await refresh(service.http, of, used.last), 400, 'invalid_grant');
      await expectAlive(bystander, of);
    },
  );

  it('still revokes the tokens long after the code has expired', async () => {
    const used = await usedCode();
    await service.database.query(
      `UPDATE authorization_codes SET expires_at = now() - interval '300 days' WHERE digest = $1`,
      [digestOf(used.code)],
    );
    const { code_verifier } = used;
    const answer = await exchange(service.http, client, used.code, { code_verifier });
    expectOAuthError(answer, 400, 'invalid_grant');
    for (const token of used.access) expect(await isAccepted(service.http, token)).toBe(false);
  });

  it('is recorded in the audit log once, with the service as actor', async () => {
    const { code, code_verifier } = await usedCode();
    for (let n = 0; n < 3; n++) await exchange(service.http, client, code, { code_verifier });
    const events = await service.database.query(
      `SELECT actor_type, after->>'reason' AS reason FROM audit_events e
         JOIN authorization_codes c ON c.grant_id = e.subject_id
        WHERE c.digest = $1 AND action = 'grant.revoked'`,
      [digestOf(code)],
    );
    expect(events).toEqual([{ actor_type: 'service', reason: 'code_replayed' }]);
  });

  it('revokes nothing unless client, redirect URI and verifier are right', async () => {
    const used = await usedCode();
    const { code_verifier } = used;
    const attempts = [
      exchange(service.http, other, used.code, { code_verifier }),
      exchange(service.http, client, used.code, { code_verifier, redirect_uri: OTHER_REDIRECT_URI }),
      exchange(service.http, client, used.code, { code_verifier: newPkce().verifier }),
      exchange(service.http, client, used.code),
    ];
    for (const answer of await Promise.all(attempts)) expectOAuthError(answer, 400, 'invalid_grant');
    const stranger = await exchange(service.http, client, used.code, {
      code_verifier,
      client_secret: 'wrong',
    });
    expectOAuthError(stranger, 401, 'invalid_client');
    await expectAlive(used);
  });
});

describe('A successful exchange', () => {
  it.each([
    ['of a confidential client with PKCE', 'client', true],
    ['of a confidential client without PKCE', 'client', false],
    ['of a public client', 'app', true],
  ] as const)('%s returns exactly the members of the contract', async (_what, who, withPkce) => {
    const of = who === 'app' ? app : client;
    const pkce = withPkce ? newPkce() : undefined;
    const code = await newCode(of, { pkce });
    const answer = await exchange(service.http, of, code, { code_verifier: pkce?.verifier });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      access_token: expect.stringMatching(/^cds_at_[\w-]{164}$/) as string,
      expires_in: 36000,
      token_type: 'Bearer',
      scope: 'charging_session:read vehicle:read',
      refresh_token: expect.stringMatching(/^cds_rt_[\w-]{78}$/) as string,
      refresh_token_expires_in: 2_592_000,
      authorization_expires_in: expect.any(Number) as number,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    expect(await isAccepted(service.http, answer.json.access_token as string)).toBe(true);
  });

  it('accepts Basic authentication', async () => {
    const form = {
      grant_type: 'authorization_code',
      code: await newCode(client),
      redirect_uri: REDIRECT_URI,
    };
    expect((await service.http.token(form, { id: client.id, secret: client.secret })).status).toBe(200);
  });

  it('accepts every verifier that RFC 7636 allows', async () => {
    const verifiers = ['a'.repeat(43), 'Z'.repeat(128), `-._~${randomBytes(40).toString('hex')}`];
    for (const verifier of verifiers) {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      const code = await newCode(app, { pkce: { verifier, challenge } });
      await expectUsable(app, code, { code_verifier: verifier });
    }
  });

  it('grants the scopes that the user agreed to, whatever the token request says', async () => {
    const code = await newCode(client, { scope: 'vehicle:read' });
    const answer = await exchange(service.http, client, code, { scope: 'charging_session:read' });
    expect(answer.json).toMatchObject({ scope: 'vehicle:read' });
  });

  it('grants only the remaining scopes if the consent was narrowed in the meantime', async () => {
    const someone = await service.make.user();
    const code = await service.make.code(client, someone);
    await service.make.consent(client, someone, ['vehicle:read']);
    expect((await exchange(service.http, client, code)).json).toMatchObject({ scope: 'vehicle:read' });
  });

  it('leaves only digests in the database, and no secrets in the log', async () => {
    const code = await newCode(client);
    const tokens = (await exchange(service.http, client, code)).json as Tokens;
    const [row] = await service.database.query<{ consumed: boolean; clear: boolean }>(
      `SELECT consumed_at IS NOT NULL AS consumed, to_jsonb(c)::text LIKE '%cds\\_%' AS clear
         FROM authorization_codes c WHERE digest = $1`,
      [digestOf(code)],
    );
    expect(row).toEqual({ consumed: true, clear: false });
    for (const secret of [code, tokens.access_token, tokens.refresh_token])
      expect(service.log.join('')).not.toContain(secret);
  });
});

describe('A loopback redirect URI', () => {
  it('must have the same port in the exchange as in the authorization request', async () => {
    const [pkce, redirectUri] = [newPkce(), 'http://127.0.0.1:51004/cb'];
    const code = await newCode(app, { pkce, redirectUri });
    const code_verifier = pkce.verifier;
    const others = ['http://127.0.0.1/cb', 'http://127.0.0.1:51005/cb', 'http://[::1]:51004/cb'];
    for (const redirect_uri of others) {
      const answer = await exchange(service.http, app, code, { code_verifier, redirect_uri });
      expectOAuthError(answer, 400, 'invalid_grant');
    }
    await expectUsable(app, code, { code_verifier, redirect_uri: redirectUri });
  });

  it('needs no port if none was registered', async () => {
    const pkce = newPkce();
    const code = await newCode(app, { pkce, redirectUri: 'http://127.0.0.1/cb' });
    const fields = { code_verifier: pkce.verifier, redirect_uri: 'http://127.0.0.1/cb' };
    await expectUsable(app, code, fields);
  });
});
