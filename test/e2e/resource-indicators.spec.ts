import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { listOf } from '../support/list-of.js';
import { newPkce, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { credentialsOf, exchange, expectOAuthError, refresh } from '../support/oauth.js';
import { authorize } from '../support/without-pages.js';
import { type Answer, madeOnce, useSharedService } from '../support/spec.js';

const service = useSharedService({ instances: 2 });

const [VEHICLES, SESSIONS] = ['https://vehicles.example', 'https://data.example/sessions'];

const dataService = (resourceIndicators: string[]) =>
  service.make.client({
    scopes: ['token:introspect'],
    grantTypes: ['client_credentials'],
    redirectUris: [],
    resourceIndicators,
  });
const client = madeOnce(() => service.make.client());
const user = madeOnce(() => service.make.user());
const browser = madeOnce(() => service.make.signedIn(user));
const vehicles = madeOnce(() => dataService([VEHICLES]));
const sessions = madeOnce(() => dataService([SESSIONS, 'urn:example:sessions']));
const plain = madeOnce(() => dataService([]));

type Pairs = [string, string][];
const ofResources = (resources: string[]): Pairs => resources.map((resource) => ['resource', resource]);
const base = () => service.settings.baseUrl;

const authorizationQuery = (resources: string[], more: Record<string, string> = {}) =>
  new URLSearchParams([
    ...Object.entries({
      ...{ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, scope: 'vehicle:read' },
      ...more,
    }),
    ...ofResources(resources),
  ]);
/** Where the page sends the browser without, or after, the user's consent. */
async function authorized(query: URLSearchParams): Promise<URLSearchParams> {
  const page = await browser.open(`/o/authorize/?${query.toString()}`);
  const answer =
    page.status === 200 ? await browser.submit(page, '/o/authorize/', { decision: 'authorize' }) : page;
  return new URL(answer.headers.get('location')!).searchParams;
}
/** A code, without the page. */
const codeFor = async (resources: string[]) =>
  (await authorize(service, browser, authorizationQuery(resources))).searchParams.get('code')!;
const push = (query: URLSearchParams) => {
  query.delete('client_id');
  const form = [...(Object.entries(credentialsOf(client)) as Pairs), ...query] as Pairs;
  return service.http.send('/o/par', { form });
};

const token = (fields: Record<string, string>, resources: string[], of: TestClient = client) =>
  service.http.send('/o/token', {
    form: [
      ...(Object.entries({ ...credentialsOf(of), ...fields }) as Pairs),
      ...ofResources(resources),
    ] as Pairs,
  });
const exchangeFor = (code: string, resources: string[]) =>
  token({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }, resources);
const refreshFor = (refreshToken: string, resources: string[]) =>
  token({ grant_type: 'refresh_token', refresh_token: refreshToken }, resources);
const ownFor = (resources: string[]) => token({ grant_type: 'client_credentials' }, resources);
/** The access token and the refresh token of an answer. */
function issued({ status, text, json }: Answer): { access: string; again: string } {
  if (status !== 200) throw new Error(text);
  return { access: json.access_token as string, again: json.refresh_token as string };
}

const introspect = async (of: TestClient, access: string) =>
  (await service.http.send('/o/introspect', { form: { ...credentialsOf(of), token: access } })).json as {
    active: boolean;
    aud?: string | string[];
  };
/** To whom the token is active: a data service for vehicles, one for sessions, one without indicators. */
const activeFor = async (access: string) => {
  const each = await Promise.all([vehicles, sessions, plain].map((of) => introspect(of, access)));
  return each.map(({ active }) => active);
};
const audOf = async (access: string, of: TestClient = vehicles) => (await introspect(of, access)).aud;

/** What a place that takes `resource` answers: a new one for each place, which is asked several times. */
const places: [where: string, open: () => Promise<(resources: string[]) => Promise<string | null>>][] = [
  [
    'the authorization page',
    () => Promise.resolve(async (some) => (await authorized(authorizationQuery(some))).get('error')),
  ],
  [
    'a pushed request',
    () => Promise.resolve(async (some) => (await push(authorizationQuery(some))).json.error as string),
  ],
  [
    'an exchange',
    async () => {
      const code = await codeFor([]);
      return async (some) => (await exchangeFor(code, some)).json.error as string;
    },
  ],
  [
    'a refresh',
    async () => {
      const { again } = issued(await exchangeFor(await codeFor([]), []));
      return async (some) => (await refreshFor(again, some)).json.error as string;
    },
  ],
  ['client credentials', () => Promise.resolve(async (some) => (await ownFor(some)).json.error as string)],
];

it.each(places)(
  'A resource is refused with invalid_target at %s if it is unknown, not absolute, or has a fragment',
  async (_where, open) => {
    const ask = await open();
    const wrong = [['https://unknown.example'], ['vehicles'], [`${base()}/v2`], [VEHICLES, `${VEHICLES}#x`]];
    for (const each of wrong) expect([each, await ask(each)]).toEqual([each, 'invalid_target']);
  },
);

describe('A resource is refused', () => {
  it('if there are more than five', async () => {
    const many = listOf('a, b, c, d, e, f').map((name) => `https://${name}.example`);
    await dataService(many);
    expectOAuthError(await ownFor(many), 400, 'invalid_target');
    const { access } = issued(await ownFor(many.slice(1)));
    expect((await service.http.get('/v2/users', { bearer: access })).status).toBe(401);
  });

  it('if it was not among those of the authorization request, and the code stays usable', async () => {
    const code = await codeFor([VEHICLES]);
    for (const some of [[SESSIONS], [VEHICLES, SESSIONS], [base()]])
      expectOAuthError(await exchangeFor(code, some), 400, 'invalid_target');
    const { access, again } = issued(await exchangeFor(code, []));
    expect(await audOf(access)).toBe(VEHICLES);
    for (const some of [[SESSIONS], [VEHICLES, SESSIONS], [base()]])
      expectOAuthError(await refreshFor(again, some), 400, 'invalid_target');
    expect(await audOf(issued(await refreshFor(again, [])).access)).toBe(VEHICLES);
  });

  it('if its client is disabled or may not introspect', async () => {
    const gone = await dataService(['https://gone.example']);
    issued(await ownFor(['https://gone.example']));
    await service.make.updateClient(gone, { enabled: false });
    expectOAuthError(await ownFor(['https://gone.example']), 400, 'invalid_target');
    await expect(service.make.client({ resourceIndicators: ['https://partner.example'] })).rejects.toThrow();
  });

  it('if a lost refresh is repeated for another one; repeated unchanged, it gives the same pair', async () => {
    const { again } = issued(await exchangeFor(await codeFor([VEHICLES, SESSIONS]), []));
    const first = await refreshFor(again, [VEHICLES]);
    for (const some of [[], [SESSIONS], [SESSIONS, VEHICLES]])
      expectOAuthError(await refreshFor(again, some), 400, 'invalid_target');
    expect(issued(await refreshFor(again, [`${VEHICLES}/`]))).toEqual(issued(first));
  });
});

describe('A token for a resource', () => {
  it('is active for that resource only, and the partner API refuses it and says where to look', async () => {
    const { access } = issued(await exchangeFor(await codeFor([VEHICLES]), []));
    expect(await activeFor(access)).toEqual([true, false, false]);
    expect(await introspect(sessions, access)).toEqual({ active: false });
    expect(await audOf(access)).toBe(VEHICLES);
    for (const { http } of service.instances) {
      const answer = await http.get('/v2/users', { bearer: access });
      const detail = 'The access token is for another resource.';
      expect(answer.json).toEqual({ status: 401, title: 'Unauthorized', detail });
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer realm="Charging Data Service", error="invalid_token", error_description="${detail}", resource_metadata="${base()}/.well-known/oauth-protected-resource"`,
      );
    }
  });

  it('does not admit its client to introspection, unless it is for this service', async () => {
    const form = { token: 'x' };
    const status = async (some: string[]) => {
      const { access: bearer } = issued(await token({ grant_type: 'client_credentials' }, some, vehicles));
      return (await service.http.send('/o/introspect', { bearer, form })).status;
    };
    expect([await status([VEHICLES]), await status([base()]), await status([])]).toEqual([401, 200, 200]);
  });

  it('is found for who asks with a token of its own', async () => {
    const { access: bearer } = issued(await token({ grant_type: 'client_credentials' }, [], vehicles));
    const { access } = issued(await ownFor([VEHICLES]));
    const answer = await service.http.send('/o/introspect', { bearer, form: { token: access } });
    expect(answer.json).toMatchObject({ active: true, aud: VEHICLES });
  });

  it('is for this service with or without the slash that clients of MCP write', async () => {
    for (const resource of [base(), `${base()}/`]) {
      const { access } = issued(await exchangeFor(await codeFor([resource]), [resource]));
      expect(await activeFor(access)).toEqual([false, false, true]);
      expect(await audOf(access, plain)).toBe(base());
      expect((await service.http.get('/v2/users', { bearer: access })).status).toBe(200);
    }
    expect(await audOf(issued(await ownFor([`${VEHICLES}/`])).access)).toBe(VEHICLES);
  });

  it('can be for several, each of which is told of all', async () => {
    const both = [VEHICLES, 'urn:example:sessions'];
    const { access, again } = issued(await exchangeFor(await codeFor([...both, VEHICLES]), []));
    expect(await activeFor(access)).toEqual([true, true, false]);
    expect(await audOf(access)).toEqual(both);
    const { access: less, again: next } = issued(await refreshFor(again, [VEHICLES]));
    expect(await activeFor(less)).toEqual([true, false, false]);
    const { access: other } = issued(await refreshFor(next, ['urn:example:sessions']));
    expect(await activeFor(other)).toEqual([false, true, false]);
  });

  it('goes on, and is refreshed, when the resource is removed', async () => {
    const data = await dataService(['https://moved.example']);
    const { access, again } = issued(await exchangeFor(await codeFor(['https://moved.example']), []));
    await service.make.updateClient(data, { resourceIndicators: ['https://new.example'] });
    expectOAuthError(await ownFor(['https://moved.example']), 400, 'invalid_target');
    expect(await introspect(data, access)).toEqual({ active: false });
    await service.make.updateClient(data, { resourceIndicators: ['https://moved.example'] });
    expect(await introspect(data, access)).toMatchObject({ active: true, aud: 'https://moved.example' });
    expect(await audOf(issued(await refreshFor(again, [])).access, data)).toBe('https://moved.example');
  });

  it('keeps the resource that the exchange named, if the authorization request named none', async () => {
    const { access, again } = issued(await exchangeFor(await codeFor([]), [VEHICLES]));
    expect(await audOf(access)).toBe(VEHICLES);
    expectOAuthError(await refreshFor(again, [SESSIONS]), 400, 'invalid_target');
    expect(await audOf(issued(await refreshFor(again, [])).access)).toBe(VEHICLES);
  });

  it('comes from a pushed request too', async () => {
    const { verifier, challenge } = newPkce();
    const query = authorizationQuery([VEHICLES, SESSIONS], {
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const requestUri = (await push(query)).json.request_uri as string;
    const found = await authorized(new URLSearchParams({ client_id: client.id, request_uri: requestUri }));
    const answer = await exchange(service.http, client, found.get('code')!, { code_verifier: verifier });
    expect(await audOf(issued(answer).access)).toEqual([VEHICLES, SESSIONS]);
  });
});

describe('A token without a resource', () => {
  it('is active for everybody, has no aud, and looks as before', async () => {
    const { access, again } = issued(await exchangeFor(await codeFor([]), ['']));
    const { access: own } = issued(await ownFor([]));
    const { access: next } = issued(await refresh(service.http, client, again));
    for (const each of [access, own, next]) {
      expect(await activeFor(each)).toEqual([true, true, true]);
      expect(await introspect(vehicles, each)).not.toHaveProperty('aud');
      expect((await service.http.get('/v2/users', { bearer: each })).status).toBe(200);
    }
    // Their kinds and lengths.
    expect([access, own].map((each) => [Buffer.from(each.slice(7), 'base64url')[1], each.length])).toEqual([
      [4, 169],
      [1, 142],
    ]);
  });

  it('can be narrowed at a refresh', async () => {
    const { again } = issued(await exchangeFor(await codeFor([]), []));
    const { access, again: next } = issued(await refreshFor(again, [VEHICLES]));
    expect(await activeFor(access)).toEqual([true, false, false]);
    expect(await activeFor(issued(await refreshFor(next, [])).access)).toEqual([true, true, true]);
  });
});

describe('The metadata', () => {
  it('name the resources that can be asked for, each once', async () => {
    await dataService([`${VEHICLES}/`]);
    const { json } = await service.http.get('/.well-known/oauth-authorization-server');
    const names = json.protected_resources as string[];
    expect(names[0]).toBe(base());
    expect(names).toEqual(expect.arrayContaining([VEHICLES, SESSIONS, 'urn:example:sessions']) as string[]);
    expect(new Set(names).size).toBe(names.length);
    expect(names).not.toContain(`${VEHICLES}/`);
  });

  it('of the partner API (RFC 9728) lead from its address to its authorization server', async () => {
    const answer = await service.http.get('/.well-known/oauth-protected-resource', {
      headers: { origin: 'https://app.example' },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.json).toMatchObject({
      resource: base(),
      authorization_servers: [base()],
      bearer_methods_supported: ['header'],
      scopes_supported: expect.arrayContaining(['vehicle:read']) as string[],
    });
  });
});

describe('Stock libraries', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  it('oauth4webapi begins at the resource, asks for it, and verifies the signed introspection', async () => {
    const expected = new URL(base());
    const described = await oauth.resourceDiscoveryRequest(expected, insecure);
    const { resource, authorization_servers: issuers } = await oauth.processResourceDiscoveryResponse(
      expected,
      described,
    );
    const issuer = new URL(issuers![0]!);
    const server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    const of = { client_id: client.id };
    const by = oauth.ClientSecretPost(client.secret);
    // As clients of MCP write it.
    const parameters = [['resource', new URL(resource).href], ...ofResources([VEHICLES])];
    const tokens = await oauth.processClientCredentialsResponse(
      server,
      of,
      await oauth.clientCredentialsGrantRequest(server, of, by, parameters, insecure),
    );
    const asks = { client_id: vehicles.id, introspection_signed_response_alg: 'EdDSA' };
    const answer = await oauth.introspectionRequest(
      server,
      asks,
      oauth.ClientSecretPost(vehicles.secret),
      tokens.access_token,
      { requestJwtResponse: true, ...insecure },
    );
    const seen = await oauth.processIntrospectionResponse(server, asks, answer);
    await oauth.validateApplicationLevelSignature(server, answer, insecure);
    expect(seen).toMatchObject({ active: true, aud: [base(), VEHICLES] });
  });

  it('openid-client asks at the authorization page, and for less at a refresh', async () => {
    const config = await openid.discovery(new URL(base()), client.id, client.secret, undefined, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
    const { verifier, challenge } = newPkce();
    const address = openid.buildAuthorizationUrl(
      config,
      authorizationQuery([VEHICLES, SESSIONS], { code_challenge: challenge, code_challenge_method: 'S256' }),
    );
    const found = await authorize(service, browser, address.searchParams);
    const tokens = await openid.authorizationCodeGrant(config, found, { pkceCodeVerifier: verifier });
    expect(await audOf(tokens.access_token)).toEqual([VEHICLES, SESSIONS]);
    const less = await openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: SESSIONS });
    expect(await activeFor(less.access_token)).toEqual([false, true, false]);
  });
});
