import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { columnsThatHold } from '../support/searched-database.js';
import { atEndOfFile } from '../support/between-files.js';
import { putClockForward } from '../support/clock.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { enterPortal, errorAt, wordsOf } from '../support/portal.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { until, useSharedService } from '../support/spec.js';
import { WEBHOOK_ENV, Webhooks, type DeliveryRow } from '../support/webhooks.js';

/** With characters that RFC 6749 §2.3.1 wants encoded before they are joined. */
const CLIENT_ID = 'charging data:1';
const SECRET = 'a-secret of+the%receiver&s:own=server/0123456789';
const SCOPE = 'events.write';
const TOKEN_SECONDS = 3600;
const REFUSED = 'A-WRONG-SECRET-OF-THE-RECEIVER';

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;
type Json = Record<string, unknown>;

/* Contract §22: a receiver behind OAuth. The judge is an authorization server of others: the receiver takes only tokens that it gave. */
describe('An endpoint whose receiver is behind OAuth', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const server = new IdentityProvider();
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));
  /** Answers in place of the authorization server. */
  let answer: Answer | undefined;
  /** Tokens that the receiver does not take any more. */
  const ended = new Set<string>();

  beforeAll(async () => {
    await server.listen();
    atEndOfFile(() => server.close());
    server.serveTo('http://127.0.0.1:9', ['company'], {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          token_endpoint_auth_method: 'client_secret_basic',
          scope: SCOPE,
        },
      ],
      configuration: {
        scopes: [SCOPE, 'of.others'],
        ttl: { ClientCredentials: TOKEN_SECONDS },
        features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
      },
      answer: (request, response) => answer?.(request, response) ?? false,
    });
  });
  beforeEach(() => void (answer = undefined));

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  /** As answers show them. */
  const shown = (): Json => ({
    type: 'client_credentials',
    token_url: `${server.url}/token`,
    client_id: CLIENT_ID,
    scope: SCOPE,
  });
  const credentials = (more: Json = {}): Json => ({ ...shown(), client_secret: SECRET, ...more });
  const create = (authentication: unknown, more: Json = {}) =>
    webhooks.add(client, { authentication, ...more });
  const errorsOf = (response: { status: number; json: Json }) => [
    response.status,
    Object.keys((response.json.field_errors ?? {}) as Json),
  ];
  const tokenRequests = () => server.requests.filter((each) => each === 'POST /token').length;
  const isTaken = async (request: ReceivedRequest): Promise<boolean> => {
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const known = await server.provider.ClientCredentials.find(token);
    return !ended.has(token) && known?.scope === SCOPE && !known.isExpired;
  };
  let count = 0;
  /** An endpoint whose receiver answers 401 without a token of the server. */
  const endpointOf = async (
    authentication: unknown = credentials(),
    owner: ClientEntity = client,
  ): Promise<{ id: string; path: string }> => {
    const path = `/oauth/${++count}`;
    webhooks.answer(path, (response, request) => {
      void isTaken(request).then((taken) => response.writeHead(taken ? 204 : 401).end());
    });
    const added = await webhooks.add(owner, { url: webhooks.receiver.url(path), authentication });
    expect([added.status, added.json.field_errors]).toEqual([201, undefined]);
    return { id: added.json.id as string, path };
  };
  const received = ({ path }: { path: string }) =>
    webhooks.receiver.requests.filter(({ url }) => url === path);
  const deliver = async (): Promise<DeliveryRow> =>
    webhooks.attempted((await webhooks.publishOne(user.id)).id);
  const attemptOf = async (row: DeliveryRow) => {
    const { json } = await service.http.get(`/admin/deliveries/${row.id}`, { bearer: webhooks.bearer });
    return (json.attempts as { status: number | null; failure: string | null; detail: string | null }[]).at(
      -1,
    )!;
  };

  describe('is refused', () => {
    it.each<[string, unknown, string[]]>([
      ['a text', 'client_credentials', ['authentication']],
      ['a list', [], ['authentication']],
      ['nothing in it', {}, ['authentication.type', 'authentication.token_url', 'authentication.client_id']],
    ])('with %s', async (_what, authentication, members) => {
      expect(errorsOf(await create(authentication))).toEqual([400, members]);
    });

    it.each<[string, Json]>([
      ['type', { type: 'password' }],
      ['token_url', { token_url: '' }],
      ['token_url', { token_url: 'login.example.com/token' }],
      ['token_url', { token_url: 'https://a:b@login.example.com/token' }],
      ['token_url', { token_url: 7 }],
      ['client_id', { client_id: '' }],
      ['client_id', { client_id: 'é' }],
      ['client_secret', { client_secret: '' }],
      ['client_secret', { client_secret: `${SECRET}\n` }],
      ['client_secret', { client_secret: 'x'.repeat(1025) }],
      ['client_secret', { client_secret: null }],
      ['client_secret', { client_secret: undefined }],
      ['scope', { scope: 'two  spaces' }],
      ['scope', { scope: '"' }],
      ['audience', { audience: 'x' }],
    ])('with a wrong %s: %j', async (member, more) => {
      const response = await create(credentials(more));
      expect(errorsOf(response)).toEqual([400, [`authentication.${member}`]]);
      expect(response.text).not.toContain(SECRET);
    });

    it('together with a header “authorization” of its own, whichever comes first', async () => {
      const headers = { Authorization: 'Bearer static' };
      expect(errorsOf(await create(credentials(), { headers }))).toEqual([400, ['headers']]);

      const { json: withHeader } = await create(null, { headers });
      const id = withHeader.id as string;
      expect(errorsOf(await webhooks.change(id, { authentication: credentials() }))).toEqual([
        400,
        ['headers'],
      ]);
      const switched = await webhooks.change(id, { authentication: credentials(), headers: { 'x-a': 'b' } });
      expect([switched.status, switched.json.authentication, switched.json.headers]).toEqual([
        200,
        shown(),
        ['x-a'],
      ]);
      expect(errorsOf(await webhooks.change(id, { headers }))).toEqual([400, ['headers']]);
      const back = await webhooks.change(id, { authentication: null, headers });
      expect([back.status, back.json.authentication, back.json.headers]).toEqual([
        200,
        null,
        ['authorization'],
      ]);
    });

    it('with the secret that it has, for another token endpoint or client: it would be sent there', async () => {
      const { id } = await endpointOf();
      for (const other of [{ token_url: `${server.url}/elsewhere` }, { client_id: 'another' }]) {
        const response = await webhooks.change(id, { authentication: { ...shown(), ...other } });
        expect(errorsOf(response)).toEqual([400, ['authentication.client_secret']]);
      }
      const same = await webhooks.change(id, { authentication: { ...shown(), scope: null } });
      expect([same.status, same.json.authentication]).toEqual([200, { ...shown(), scope: null }]);
    });

    it('is opened for no other URL, even if the database says so', async () => {
      const { id, path } = await endpointOf();
      await query(
        `UPDATE webhook_endpoints SET authentication = jsonb_set(authentication::jsonb, '{token_url}', $2)::json WHERE id = $1`,
        [id, JSON.stringify(`${server.url}/elsewhere`)],
      );
      const row = await deliver();
      expect((await attemptOf(row)).detail).toBe(
        'The client secret for the token endpoint can no longer be read: it must be entered again.',
      );
      expect([received({ path }), server.requests.includes('POST /elsewhere')]).toEqual([[], false]);
    });
  });

  describe('gets its events with a token', () => {
    it('also in batches', async () => {
      const endpoint = await endpointOf();
      await webhooks.change(endpoint.id, { batch: { max: 10, wait_ms: 0 } });
      const row = await deliver();
      const request = received(endpoint).at(-1)!;
      expect([row.state, (JSON.parse(request.body) as Json).type, await isTaken(request)]).toEqual([
        'delivered',
        'batch',
        true,
      ]);
    });

    it('which is kept for all deliveries until it ends, and is asked for once at a time', async () => {
      const { path } = await endpointOf();
      const before = tokenRequests();
      const published = await Promise.all(Array.from({ length: 8 }, () => webhooks.publishOne(user.id)));
      const rows = await Promise.all(published.map(({ id }) => webhooks.finished(id)));
      expect(rows.map(({ state, attempts }) => [state, attempts])).toEqual(rows.map(() => ['delivered', 1]));
      expect([tokenRequests() - before, received({ path }).length]).toEqual([1, 8]);

      putClockForward(TOKEN_SECONDS - 60);
      expect((await deliver()).state).toBe('delivered');
      expect(tokenRequests() - before).toBe(1);
      // A little before its end, so that it does not end on the way.
      putClockForward(40);
      expect((await deliver()).state).toBe('delivered');
      expect(tokenRequests() - before).toBe(2);
    });

    it('and a new one at a 401, in the same attempt', async () => {
      const { path } = await endpointOf();
      await deliver();
      const [first] = received({ path });
      ended.add(first!.headers.authorization!.slice('Bearer '.length));
      const before = tokenRequests();
      const row = await deliver();
      expect([row.state, row.attempts, tokenRequests() - before]).toEqual(['delivered', 1, 1]);
      const [, refused, taken] = received({ path });
      expect(refused!.headers.authorization).toBe(first!.headers.authorization);
      expect(taken!.headers['webhook-signature']).toBe(refused!.headers['webhook-signature']);
      expect((await deliver()).state).toBe('delivered');
      expect(tokenRequests() - before).toBe(1);
    });

    it('of another secret, or scope, as soon as that was changed', async () => {
      const { id } = await endpointOf(credentials({ client_secret: REFUSED }));
      expect((await attemptOf(await deliver())).failure).toBe('token');
      await webhooks.change(id, { authentication: credentials() });
      expect((await deliver()).state).toBe('delivered');
    });

    it('also when a test is sent, and when a delivery is sent again', async () => {
      const { id, path } = await endpointOf();
      const browser = await enterPortal(service, client);
      const test = `/portal/endpoints/${id}/test`;
      await browser.submit(await browser.open(test), test, { type: 'webhook.test' });
      const row = await deliver();
      await service.http.send(`/admin/deliveries/${row.id}/resend`, { bearer: webhooks.bearer, json: {} });
      await webhooks.attempted(row.id, 2);
      const tokens = received({ path }).map(({ headers }) => headers.authorization);
      expect([tokens.length, new Set(tokens).size]).toEqual([3, 1]);
    });
  });

  describe('has a failed attempt', () => {
    it('if the receiver refuses the new token too: it is not sent a third time', async () => {
      const { id, path } = await endpointOf();
      webhooks.answer(path, 401);
      const before = tokenRequests();
      const row = await deliver();
      expect([row.state, row.attempts, row.retries]).toEqual(['pending', 1, 1]);
      expect([(await attemptOf(row)).status, received({ path }).length]).toEqual([401, 2]);
      expect(tokenRequests() - before).toBe(2);
      const page = await (await enterPortal(service, client)).open(`/portal/deliveries/${row.id}`);
      expect(wordsOf(page)).toContain('authorization: ••••••••');
      await webhooks.change(id, { enabled: false });
    });

    const says =
      (status: number, body: string): Answer =>
      (request, response) => {
        if (!request.url!.startsWith('/token')) return false;
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
        return true;
      };
    it.each<[string, Answer | undefined, Json, string]>([
      ['a wrong secret', undefined, { client_secret: REFUSED }, 'it answered 401 invalid_client.'],
      ['an unknown scope', undefined, { scope: 'of.others' }, 'it answered 400 invalid_scope.'],
      ['an error of any other words', says(400, `{"error":"${SECRET}"}`), {}, 'it answered with status 400.'],
      ['a redirect', says(302, ''), {}, 'it answered with status 302.'],
      ['a page', says(200, '<html>'), {}, 'its answer is not a JSON object.'],
      ['no token', says(200, '{"token_type":"Bearer"}'), {}, 'its answer has no access_token.'],
      [
        'a token for something else',
        says(200, '{"access_token":"x","token_type":"DPoP"}'),
        {},
        'its answer has another token_type than Bearer.',
      ],
      [
        'a token with a line break',
        says(200, '{"access_token":"x\\r\\nx: y","token_type":"Bearer"}'),
        {},
        'its access_token cannot be sent in a header.',
      ],
      [
        'a lost connection',
        (request) => void request.socket.destroy() === undefined,
        {},
        'the connection was closed before a response arrived.',
      ],
    ])('with a reason of its own: %s', async (_what, instead, more, why) => {
      answer = instead;
      const { id, path } = await endpointOf(credentials(more));
      const row = await deliver();
      expect([row.state, row.attempts, row.retries]).toEqual(['pending', 1, 1]);
      expect(await attemptOf(row)).toMatchObject({
        status: null,
        failure: 'token',
        detail: `No access token from the token endpoint: ${why}`,
      });
      expect(received({ path })).toEqual([]);
      await webhooks.change(id, { enabled: false });
    });

    it('which counts as others do: it is retried, makes the endpoint failing, and after five days disables it', async () => {
      answer = says(503, '');
      const { id, path } = await endpointOf();
      const row = await deliver();
      const state = () =>
        query<{ enabled: boolean }>(
          `SELECT enabled, disabled_reason, recent_results, failing_since IS NOT NULL AS failing
             FROM webhook_endpoints WHERE id = $1`,
          [id],
        );
      expect(await state()).toEqual([
        { enabled: true, disabled_reason: null, recent_results: 'x', failing: true },
      ]);
      const browser = await enterPortal(service, client);
      for (const page of [`/portal/deliveries/${row.id}`, `/portal/endpoints/${id}`]) {
        const words = wordsOf(await browser.open(page));
        expect(words).toContain('No access token');
        expect(words).toContain('the client secret and the scope of the endpoint');
      }
      expect((await browser.open(`/portal/deliveries/${row.id}`)).text).not.toContain('curl');

      await query("UPDATE webhook_endpoints SET failing_since = now() - interval '6 days' WHERE id = $1", [
        id,
      ]);
      await webhooks.makeDue(row.id);
      await until('it is disabled', async () => !(await state())[0]!.enabled);
      expect(await state()).toEqual([
        { enabled: false, disabled_reason: 'failing', recent_results: 'xx', failing: true },
      ]);
      expect(received({ path })).toEqual([]);
    });
  });

  describe('has a client secret', () => {
    it('that is in no answer, page, log or audit event, nor in clear in the database, and goes with the endpoint', async () => {
      const { id } = await endpointOf();
      await deliver();
      await webhooks.change(id, { authentication: credentials({ scope: null }) });
      const browser = await enterPortal(service, client);
      const texts = [
        ...['', '/edit'].map(async (page) => (await browser.open(`/portal/endpoints/${id}${page}`)).text),
        ...[`/admin/webhook_endpoints/${id}`, `/admin/clients/${client.id}/webhook_endpoints`].map(
          async (path) => (await service.http.get(path, { bearer: webhooks.bearer })).text,
        ),
      ];
      const all = await Promise.all(texts);
      expect(all.map((text) => text.includes(`${server.url}/token`))).toEqual([true, true, true, true]);
      const encoded = [
        SECRET,
        encodeURIComponent(SECRET),
        new URLSearchParams({ x: SECRET }).toString().slice(2),
      ];
      const found = [...all, service.log.join('\n')].flatMap((text) =>
        encoded.filter((each) => text.includes(each)),
      );
      expect(found).toEqual([]);
      expect(await columnsThatHold(service, [SECRET])).toEqual([]);

      const [audited] = await query<{ after: Json }>(
        "SELECT after FROM audit_events WHERE subject_id = $1 AND action = 'webhook_endpoint.updated'",
        [id],
      );
      expect(audited!.after.authentication).toEqual({
        ...shown(),
        scope: null,
        client_secret: '(new value)',
      });

      await service.http.send(`/admin/webhook_endpoints/${id}`, {
        method: 'DELETE',
        bearer: webhooks.bearer,
      });
      expect(
        await query('SELECT authentication, sealed_client_secret FROM webhook_endpoints WHERE id = $1', [id]),
      ).toEqual([{ authentication: null, sealed_client_secret: null }]);
    });
  });

  describe('in the form of the portal', () => {
    it('is added, shown, kept without its secret, and removed', async () => {
      const browser = await enterPortal(service, client);
      const submit = async (path: string, fields: Record<string, string>) =>
        browser.submit(await browser.open(path), path, fields);
      const fields = {
        url: webhooks.receiver.url('/oauth/form'),
        event_types: 'charging_session.created',
        'authentication.token_url': `${server.url}/token`,
        'authentication.client_id': CLIENT_ID,
        'authentication.scope': SCOPE,
      };
      const without = await submit('/portal/endpoints/new', fields);
      expect([without.status, errorAt(without, 'client-secret')]).toEqual([
        400,
        'Client secret must be entered: there is none yet for this token endpoint and client ID.',
      ]);
      const added = await submit('/portal/endpoints/new', {
        ...fields,
        'authentication.client_secret': SECRET,
      });
      const path = added.headers.get('location')!.split('?')[0]!;
      const id = path.split('/').at(-1)!;
      expect(wordsOf(await browser.open(path))).toContain(
        `A token from ${server.url}/token for the client ${CLIENT_ID}`,
      );

      const sealed = async () =>
        query('SELECT authentication, sealed_client_secret FROM webhook_endpoints WHERE id = $1', [id]);
      const [before] = await sealed();
      await submit(`${path}/edit`, { description: 'kept' });
      expect(await sealed()).toEqual([before]);
      expect(
        errorAt(await submit(`${path}/edit`, { 'authentication.token_url': '' }), 'token-url'),
      ).toContain('Token endpoint');
      const none = Object.fromEntries(
        ['token_url', 'client_id', 'scope'].map((name) => [`authentication.${name}`, '']),
      );
      expect((await submit(`${path}/edit`, none)).status).toBe(303);
      expect(await sealed()).toEqual([{ authentication: null, sealed_client_secret: null }]);
    });
  });
});

/* The same checks as for the URL of an endpoint: when it is saved, and at each request, as the rules may have changed since. */
describe('The token endpoint of an endpoint', () => {
  const service = useSharedService({});
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeOnce(() => service.make.client());

  it.each([
    'http://8.8.8.8/token',
    'https://127.0.0.1/token',
    'https://10.0.0.1/',
    'https://login.internal/token',
  ])('is refused where it is not public: %s', async (tokenUrl) => {
    const response = await webhooks.add(client, {
      url: 'https://8.8.8.8/hook',
      authentication: { type: 'client_credentials', token_url: tokenUrl, client_id: 'a', client_secret: 'b' },
    });
    expect([response.status, Object.keys(response.json.field_errors as Json)]).toEqual([
      400,
      ['authentication.token_url'],
    ]);
  });
});
