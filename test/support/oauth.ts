import { REDIRECT_URI, type TestClient } from './factory.js';
import type { Answer, Http } from './http.js';

type Fields = Record<string, string | undefined>;

/** Expects an error response of RFC 6749 §5.2: exactly its two members, not cacheable, and on 401 with a challenge. */
export function expectOAuthError(answer: Answer, status: 400 | 401 | 403, error: string): void {
  expect({ status: answer.status, error: answer.json?.error as unknown }).toEqual({ status, error });
  expect(Object.keys(answer.json as object).sort()).toEqual(['error', 'error_description']);
  // RFC 6749 §5.2: neither quotes nor backslashes, nor anything beyond ASCII.
  expect(answer.json.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('pragma')).toBe('no-cache');
  if (error === 'invalid_client')
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm="[^"]+"/);
}

/** The client's credentials as body parameters; a public client sends only its id. */
export const credentialsOf = (client: TestClient): Fields => ({
  client_id: client.id,
  client_secret: client.secret || undefined,
});

/** Exchanges a code with a correct request, except where `fields` overrides it. */
export const exchange = (http: Http, client: TestClient, code: string, fields: Fields = {}) =>
  http.token({
    grant_type: 'authorization_code',
    ...credentialsOf(client),
    code,
    redirect_uri: REDIRECT_URI,
    ...fields,
  });

/** The answer, if the request was served. */
export function done(answer: Answer): Answer {
  if (answer.status >= 300) throw new Error(`not done: ${answer.status} ${answer.text}`);
  return answer;
}

/** Uses a refresh token. */
export const refresh = (http: Http, client: TestClient, refreshToken: string, fields: Fields = {}) =>
  http.token({
    grant_type: 'refresh_token',
    ...credentialsOf(client),
    refresh_token: refreshToken,
    ...fields,
  });

/** Revokes a token of the client. */
export const revoke = (http: Http, client: TestClient, token: string, fields: Fields = {}) =>
  http.send('/o/revoke_token/', { form: { ...credentialsOf(client), token, ...fields } });

/** Whether a bearer endpoint that needs no scope accepts the access token. */
export async function isAccepted(http: Http, accessToken: string): Promise<boolean> {
  const { status, text } = await http.get('/v2/users', { bearer: accessToken });
  if (status !== 200 && status !== 401) throw new Error(`neither accepted nor refused: ${status} ${text}`);
  return status === 200;
}
