import { gzipSync } from 'node:zlib';
import { type Answer, type HttpOptions, madeOnce, useSharedService } from '../support/spec.js';
import { credentialsOf, expectOAuthError, isAccepted } from '../support/oauth.js';
import { endingIn, lifetimeOf } from '../support/tokens.js';
import { listOf } from '../support/list-of.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const GRANT = 'grant_type=client_credentials';

const service = useSharedService();

const client = madeOnce(() => service.make.client());

/** Sends a request of the client, authenticated by Basic, with any method, headers and body. */
const send = (options: HttpOptions, path = '/o/token'): Promise<Answer> =>
  service.http.send(path, { basic: client, ...options });
const sendForm = (body: string, path?: string, contentType = FORM_TYPE): Promise<Answer> =>
  send({ body, headers: { 'content-type': contentType } }, path);
const clientCredentials = (scope?: string): Promise<Answer> =>
  service.http.token({ grant_type: 'client_credentials', scope, ...credentialsOf(client) });

describe('The form of a token request', () => {
  it.each(listOf('application/json, text/plain, multipart/form-data; boundary=x, application/xml, nonsense'))(
    'must not be %s',
    async (type) => {
      expectOAuthError(await sendForm(GRANT, undefined, type), 400, 'invalid_request');
      const json = JSON.stringify({ grant_type: 'client_credentials' });
      expectOAuthError(await sendForm(json, undefined, type), 400, 'invalid_request');
    },
  );

  it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'nonsense'])(
    'must not be compressed: Content-Encoding %s is 415, and says what is read',
    async (encoding) => {
      const headers = { 'content-type': FORM_TYPE, 'content-encoding': encoding };
      const answer = await send({ body: gzipSync(GRANT), headers });
      expect([answer.status, answer.headers.get('accept-encoding')]).toEqual([415, 'identity']);
      expect(answer.json).toMatchObject({
        title: 'Unsupported media type',
        detail: 'The body is compressed. Send it without Content-Encoding.',
      });
    },
  );

  it('may say that it is not compressed', async () => {
    const { id, secret } = client;
    const headers = { 'content-encoding': 'identity' };
    const answer = await send({ form: { grant_type: 'client_credentials' }, basic: { id, secret }, headers });
    expect(answer.status).toBe(200);
  });

  it('must have a body', async () => {
    expectOAuthError(await send({ method: 'POST' }), 400, 'invalid_request');
    expectOAuthError(await sendForm(''), 400, 'invalid_request');
  });

  it('must have a media type', async () => {
    expectOAuthError(await send({ body: Buffer.from(GRANT) }), 400, 'invalid_request');
  });

  it.each([
    ['grant_type', `${GRANT}&${GRANT}`],
    ['scope', `${GRANT}&scope=vehicle:read&scope=charging_session:read`],
    ['an empty and a non-empty value', `${GRANT}&scope=&scope=vehicle:read`],
    ['a name encoded in two ways', `${GRANT}&sc%6Fpe=vehicle:read&scope=vehicle:read`],
  ])('must not repeat a parameter: %s', async (_what, body) => {
    expectOAuthError(await sendForm(body), 400, 'invalid_request');
  });

  it('may repeat a parameter that is not of the contract, which is ignored', async () => {
    const answer = await sendForm(`${GRANT}&x=1&x=2&claims=a&claims=b`);
    expect(answer.status).toBe(200);
  });

  it('must not be accompanied by parameters in the query string', async () => {
    expectOAuthError(await sendForm('', `/o/token?${GRANT}`), 400, 'invalid_request');
    expectOAuthError(await sendForm(GRANT, '/o/token?scope=vehicle:read'), 400, 'invalid_request');
    expectOAuthError(await sendForm(GRANT, '/o/token/?anything'), 400, 'invalid_request');
    const inQuery = new URLSearchParams({ client_id: client.id, client_secret: client.secret }).toString();
    const answer = await service.http.send(`/o/token?${inQuery}`, {
      form: { grant_type: 'client_credentials' },
    });
    expectOAuthError(answer, 400, 'invalid_request');
  });

  it.each([
    ['broken percent-encoding', `${GRANT}&x=%zz`],
    ['an incomplete percent-encoding', `${GRANT}&x=%`],
    ['bytes that are not UTF-8', `${GRANT}&x=%ff`],
    ['NUL', `${GRANT}&x=%00`],
    ['a thousand parameters', `${GRANT}&${Array.from({ length: 1000 }, (_, n) => `p${n}=1`).join('&')}`],
  ])('must not contain invalid text or too many parameters: %s', async (_what, body) => {
    expectOAuthError(await sendForm(body), 400, 'invalid_request');
  });

  it('may have a charset and unknown parameters', async () => {
    expect((await sendForm(GRANT, undefined, `${FORM_TYPE}; charset=UTF-8`)).status).toBe(200);
    expect((await sendForm(`${GRANT}&audience=x&claims=y`)).status).toBe(200);
  });

  it('may contain empty parameters, which count as absent', async () => {
    const answer = await sendForm(`${GRANT}&scope=`);
    expect(answer.json).toMatchObject({ scope: 'charging_session:read vehicle:read' });
    expectOAuthError(await sendForm('grant_type='), 400, 'invalid_request');
  });
});

describe('The grant_type', () => {
  it.each([
    'password',
    'implicit',
    'CLIENT_CREDENTIALS',
    'client_credentials ',
    '__proto__',
    'constructor',
    '<script>alert(1)</script>',
  ])('must be supported by this service, and is not echoed: %s', async (grant_type) => {
    const answer = await service.http.token({ grant_type, ...credentialsOf(client) });
    expectOAuthError(answer, 400, 'unsupported_grant_type');
    expect(answer.text).not.toMatch(/[<>]|alert/);
  });

  it('must be registered for the client', async () => {
    const machine = await service.make.client({ grantTypes: ['client_credentials'], redirectUris: [] });
    const web = await service.make.client({ grantTypes: ['authorization_code'] });
    const app = await service.make.client({ type: 'public' });
    const more = { code: 'x', redirect_uri: 'x', refresh_token: 'x' };
    for (const [caller, grant_type] of [
      [machine, 'authorization_code'],
      [machine, 'refresh_token'],
      [web, 'client_credentials'],
      [app, 'client_credentials'],
    ] as const) {
      const answer = await service.http.token({ grant_type, ...more, ...credentialsOf(caller) });
      expectOAuthError(answer, 400, 'unauthorized_client');
    }
  });

  it('is checked after the client was authenticated', async () => {
    const wrong = { client_id: client.id, client_secret: 'wrong' };
    expectOAuthError(await service.http.token({ grant_type: 'password', ...wrong }), 401, 'invalid_client');
    expectOAuthError(await service.http.token(wrong), 401, 'invalid_client');
  });

  it('refresh_token is allowed with authorization_code', async () => {
    const web = await service.make.client({ grantTypes: ['authorization_code'] });
    const answer = await service.http.token({
      grant_type: 'refresh_token',
      refresh_token: 'unknown',
      ...credentialsOf(web),
    });
    expectOAuthError(answer, 400, 'invalid_grant');
  });
});

describe('A client-credentials token', () => {
  it.each([
    ['beyond the client', 'admin:write'],
    ['partly beyond the client', 'vehicle:read admin:write'],
    ['unknown to the catalogue', 'no:such'],
    ['in another letter case', 'Vehicle:Read'],
    ['with two spaces', 'charging_session:read  vehicle:read'],
    ['with a leading space', ' vehicle:read'],
    ['with a comma', 'charging_session:read,vehicle:read'],
    ['with a quotation mark', '"vehicle:read"'],
    ['with a line break', 'charging_session:read\nvehicle:read'],
  ])('is refused for a scope %s', async (_what, scope) => {
    expectOAuthError(await clientCredentials(scope), 400, 'invalid_scope');
  });

  it.each(['/o/token', '/o/token/'])(
    'is issued with exactly the members and headers of the contract at %s',
    async (path) => {
      const answer = await sendForm(GRANT, path);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        access_token: expect.stringMatching(/^cds_at_[\w-]{135}$/) as string,
        expires_in: 36000,
        token_type: 'Bearer',
        scope: 'charging_session:read vehicle:read',
      });
      expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('pragma')).toBe('no-cache');
      expect(answer.headers.get('x-request-id')).toBeTruthy();
      expect(answer.headers.getSetCookie()).toEqual([]);
    },
  );

  it('has the requested scopes, each once', async () => {
    expect((await clientCredentials('vehicle:read')).json.scope).toBe('vehicle:read');
    expect((await clientCredentials('vehicle:read vehicle:read')).json.scope).toBe('vehicle:read');
    const both = (await clientCredentials('vehicle:read charging_session:read')).json.scope as string;
    expect(both.split(' ').sort()).toEqual(['charging_session:read', 'vehicle:read']);
  });

  it('is different each time, and the earlier ones stay valid', async () => {
    const tokens: string[] = [];
    for (let n = 0; n < 3; n++) tokens.push((await clientCredentials()).json.access_token as string);
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect(await isAccepted(service.http, token)).toBe(true);
  });

  it("lives for ten hours by the database's clock", async () => {
    const token = (await clientCredentials()).json.access_token as string;
    expect(await lifetimeOf(service, token)).toBe(36000);
    expect(await isAccepted(service.http, await endingIn(service, token, 60))).toBe(true);
    expect(await isAccepted(service.http, await endingIn(service, token, -1))).toBe(false);
  });
});
