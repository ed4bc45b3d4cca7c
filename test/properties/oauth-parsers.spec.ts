import fc from 'fast-check';
import type { JWTPayload } from 'jose';
import type { ClientEntity } from '#access/clients/client.entity.js';
import type { PushedRequests } from '#entrypoints/oauth/par/pushed-requests.service.js';
import { AUTH_METHODS, usesKeys } from '#access/clients/client.entity.js';
import type { JwkSet } from '#access/clients/keys/jwk-set.js';
import { basicPartsOf, credentialsOf } from '#access/clients/client-credentials.js';
import { clientViolations, type ClientShape } from '#access/clients/client-rules.js';
import { RequestedResources } from '#entrypoints/oauth/resources/requested-resources.service.js';
import type { KnownResources } from '#access/clients/resources/known-resources.service.js';
import type { ClientsService } from '#access/clients/clients.service.js';
import { isRegisteredRedirectUri, redirectUriViolation } from '#access/clients/redirect-uri.js';
import { Form } from '#platform/http/forms/form.js';
import { apiWords } from '#platform/http/problems/violation.js';
import { Problem } from '#platform/http/problems/problem.js';
import { claimsRefusal } from '#entrypoints/oauth/assertions/assertion-claims.js';
import { AuthorizationRequestChecks } from '#entrypoints/oauth/authorization/authorization-request.checks.js';
import { displayHostOf, formTargetOf, withParameters } from '#entrypoints/oauth/authorization/redirect.js';
import { parseScope } from '#entrypoints/oauth/scope-parameter.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { newId } from '#platform/secrets/ids.js';
import { headerText, oddText, percentEncoded } from './support/odd-text.js';
import { always, alwaysAsync } from './support/runs.js';

/** Similar to registered URIs: parts of URIs in any order. */
const uri = () =>
  fc.oneof(
    fc.webUrl({ validSchemes: ['https', 'http'], withQueryParameters: true, withFragments: true }),
    oddText(),
    fc
      .array(
        fc.constantFrom(
          'https://',
          'http://',
          'com.example.app:',
          'app.example',
          '127.0.0.1',
          '[::1]',
          'localhost',
          ':8080',
          ':0',
          '/cb',
          '?a=b',
          '?',
          '&',
          '#',
          '@',
          '\\',
          '.',
          '%2f',
          ';',
          ' ',
          '*',
          '//',
          'x',
        ),
        { minLength: 1, maxLength: 7 },
      )
      .map((parts) => parts.join('')),
  );
const type = () => fc.constantFrom('public' as const, 'confidential' as const);

describe('The scope parameter', () => {
  const scope = fc.oneof(
    oddText(),
    fc
      .array(fc.constantFrom('a', 'b', ' ', '"', '\\', '\x7f', 'é', 'charging_session:read'), {
        maxLength: 8,
      })
      .map((parts) => parts.join('')),
  );

  it('is either a set of names without spaces, or malformed', () => {
    always(
      fc.property(scope, (text) => {
        const scopes = parseScope(text);
        if (!scopes) return true;
        const isSet = new Set(scopes).size === scopes.length && scopes.length > 0;
        return isSet && scopes.every((name) => /^[\x21-\x7e]+$/.test(name) && !/["\\]/.test(name));
      }),
    );
  });

  it('means the same when it is written again from its names', () => {
    always(
      fc.property(scope, (text) => {
        const scopes = parseScope(text);
        return (
          scopes === undefined || JSON.stringify(parseScope(scopes.join(' '))) === JSON.stringify(scopes)
        );
      }),
    );
  });
});

describe('An accepted redirect URI', () => {
  it('is compared exactly, except for loopback ports', () => {
    always(
      fc.property(uri(), uri(), type(), (registered, requested, of) => {
        if (redirectUriViolation(registered, of) !== undefined) return true;
        if (!isRegisteredRedirectUri(registered, [registered])) return false;
        if (requested === registered || !isRegisteredRedirectUri(requested, [registered])) return true;
        const bare = (text: string) => text.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}/, '$1');
        return bare(requested) === bare(registered) && /^http:\/\/(127\.0\.0\.1|\[::1\])/.test(requested);
      }),
    );
  });

  it('does not match with one character changed, added or removed', () => {
    const change = fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'a/.:?&=%@#\\ \n0'));
    always(
      fc.property(uri(), type(), change, (registered, of, [at, how, letter]) => {
        if (redirectUriViolation(registered, of) !== undefined) return true;
        const n = at % registered.length;
        const requested =
          registered.slice(0, n) + (how === 0 ? '' : letter) + registered.slice(n + (how === 2 ? 0 : 1));
        const isPort = /^http:\/\/(127\.0\.0\.1|\[::1\])/.test(registered);
        return requested === registered || isPort || !isRegisteredRedirectUri(requested, [registered]);
      }),
    );
  });

  it('keeps its own parameters and gets new ones appended', () => {
    always(
      fc.property(uri(), type(), oddText(), oddText(), (registered, of, code, state) => {
        if (redirectUriViolation(registered, of) !== undefined) return true;
        const location = withParameters(registered, { code, state, left_out: undefined });
        const { searchParams } = new URL(location);
        return (
          location.startsWith(registered) &&
          /^[\x21-\x7e]+$/.test(location) &&
          searchParams.getAll('code').at(-1) === code.toWellFormed() &&
          searchParams.getAll('state').at(-1) === state.toWellFormed() &&
          !searchParams.has('left_out')
        );
      }),
    );
  });

  it('is valid as one source of a Content-Security-Policy and shown as a host on the page', () => {
    always(
      fc.property(uri(), type(), (registered, of) => {
        if (redirectUriViolation(registered, of) !== undefined) return true;
        return /^[a-z0-9.:/+-]+$/i.test(formTargetOf(registered)) && displayHostOf(registered) !== '';
      }),
    );
  });
});

describe('Basic credentials', () => {
  it('are either exactly those that were sent, or refused', () => {
    const encoded = fc.oneof(
      oddText(),
      oddText().map(percentEncoded),
      fc.constantFrom('a:b', ':', 'a:', ':b', 'a%:b', 'a+b:c+d'),
    );
    const header = fc.oneof(
      headerText(),
      encoded.map((text) => `Basic ${Buffer.from(text).toString('base64')}`),
    );
    always(
      fc.property(header, (text) => {
        const parts = basicPartsOf(text);
        const found = parts && credentialsOf(parts);
        return found === undefined || (found.clientId !== '' && found.clientSecret !== '');
      }),
    );
  });
});

describe('The rules of clients', () => {
  const names = fc.constantFrom('vehicle:read', 'admin:read', 'nothing', '__proto__', 'constructor');
  const shape = fc.record({
    type: type(),
    grantTypes: fc
      .subarray(['authorization_code', 'client_credentials', 'refresh_token'] as const)
      .map((each) => [...each]),
    scopes: fc.array(names, { maxLength: 4 }),
    optionalScopes: fc.array(names, { maxLength: 2 }),
    purposes: fc.array(fc.constantFrom('route_planning', 'nothing', '__proto__'), { maxLength: 2 }),
    redirectUris: fc.array(uri(), { maxLength: 3 }),
    companyService: fc.boolean(),
    tokenEndpointAuthMethod: fc.constantFrom(null, ...AUTH_METHODS),
    jwks: fc.constantFrom<JwkSet | null>(null, {
      keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
    }),
    jwksUri: fc.constantFrom(null, 'https://app.example/jwks.json'),
    resourceIndicators: fc.constantFrom<string[]>([], ['https://data.example']),
    requirePkce: fc.boolean(),
    requirePushedAuthorizationRequests: fc.boolean(),
    dpopBoundAccessTokens: fc.boolean(),
    securityProfile: fc.constantFrom(null, 'fapi_2' as const),
    environment: fc.constantFrom('live', 'sandbox'),
  });
  const catalogue = [
    { name: 'vehicle:read', audience: 'partner' },
    { name: 'admin:read', audience: 'operator' },
  ] as ScopeEntity[];

  it('allow nothing that the contract forbids, and never quote what was sent', () => {
    always(
      fc.property(shape, (client: ClientShape) => {
        const errors = clientViolations(client, catalogue, ['route_planning']);
        const words = JSON.stringify(errors) + Object.values(errors).flat().map(apiWords).join();
        if (client.redirectUris.some((each) => each.length > 20 && words.includes(each))) return false;
        if (Object.keys(errors).length > 0) return true;
        const isOperator = client.scopes.includes('admin:read');
        return (
          client.scopes.every((name) => ['vehicle:read', 'admin:read'].includes(name)) &&
          client.optionalScopes.every((name) => client.scopes.includes(name)) &&
          client.purposes.every((name) => name === 'route_planning') &&
          (isOperator || !client.companyService) &&
          !(isOperator && (client.type === 'public' || client.grantTypes.includes('authorization_code'))) &&
          !(client.type === 'public' && client.grantTypes.includes('client_credentials')) &&
          !(client.environment === 'sandbox' && isOperator) &&
          !(client.type === 'public' && usesKeys(client)) &&
          !(client.type === 'confidential' && client.tokenEndpointAuthMethod === 'none') &&
          !(usesKeys(client) && client.jwks === null && client.jwksUri === null) &&
          !(client.jwks !== null && client.jwksUri !== null) &&
          client.resourceIndicators.length === 0 &&
          client.redirectUris.every((each) => redirectUriViolation(each, client.type) === undefined)
        );
      }),
    );
  });
});

describe('The claims of an assertion', () => {
  const [issuer, now] = ['https://charging.example', 1_800_000_000];
  const time = fc.oneof(
    fc.integer({ min: -120, max: 700 }).map((ahead) => now + ahead),
    fc.constantFrom(0, -1, NaN, Infinity, '1800000060', null, undefined, [now], {}),
  );
  const claims = fc.record(
    {
      aud: fc.oneof(fc.constant(issuer), oddText(), fc.array(fc.constant(issuer)), fc.constant(undefined)),
      ...{ exp: time, iat: time, nbf: time },
      jti: fc.oneof(fc.uuid(), oddText(), fc.string({ minLength: 250, maxLength: 260 }), fc.anything()),
    },
    { requiredKeys: [] },
  );
  const isAhead = (value: unknown, seconds: number) => (value as number) <= now + seconds;

  it('are accepted only if they are all right, whatever they are', () => {
    always(
      fc.property(claims, (given) => {
        if (claimsRefusal(given as JWTPayload, issuer, now) !== undefined) return true;
        const { aud, exp, iat, nbf, jti } = given;
        const begins = [iat, nbf].every((each) => each === undefined || isAhead(each, 60));
        const ends = (exp as number) > now && isAhead(exp, 600);
        return aud === issuer && ends && begins && typeof jti === 'string' && jti.length <= 256;
      }),
    );
  });
});

describe('An authorization request', () => {
  const client = {
    id: newId('clnt'),
    enabled: true,
    type: 'public',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['vehicle:read'],
    redirectUris: ['https://app.example/cb', 'http://127.0.0.1/cb', 'com.example.app:/cb?x=y'],
  } as ClientEntity;
  const checks = new AuthorizationRequestChecks(
    {
      find: (id: string) => Promise.resolve(id === client.id ? client : null),
    } as ClientsService,
    { open: () => Promise.resolve(undefined) } as unknown as PushedRequests,
    new RequestedResources({ includes: () => Promise.resolve(false) } as unknown as KnownResources),
  );
  const good: Record<string, string[]> = {
    client_id: [client.id],
    redirect_uri: [...client.redirectUris, 'http://127.0.0.1:49152/cb'],
    response_type: ['code'],
    scope: ['vehicle:read'],
    state: ['s', 'é&='],
    code_challenge: ['x'.repeat(43)],
    code_challenge_method: ['S256'],
  };
  const pairs = Object.entries(good).map(([name, values]) =>
    fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom(...values).map((value) => [[name, value]]) },
      { weight: 1, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: oddText().map((value) => [[name, value]]) },
      {
        weight: 1,
        arbitrary: oddText().map((value) => [
          [name, values[0]!],
          [name, value],
        ]),
      },
    ),
  );

  it('is shown, refused on a page, or redirected to a registered URI with the given state', async () => {
    await alwaysAsync(
      fc.asyncProperty(fc.tuple(...pairs), async (parts) => {
        const given = parts.flat() as [string, string][];
        let query: Form;
        try {
          query = Form.parse(given.map(([name, value]) => `${name}=${percentEncoded(value)}`).join('&'));
        } catch (error) {
          return error instanceof Problem;
        }
        const checked = await checks.check(query);
        if (checked.outcome === 'page') return checked.detail !== '';
        const { redirectUri, state } = checked.outcome === 'redirect' ? checked : checked.request;
        const states = given.filter(([name]) => name === 'state').map(([, value]) => value);
        const isRight = isRegisteredRedirectUri(redirectUri, client.redirectUris);
        if (checked.outcome === 'request') {
          const { scopes, codeChallenge } = checked.request;
          if (scopes.join() !== 'vehicle:read' || !/^[\w-]{43}$/.test(codeChallenge ?? '')) return false;
        }
        return isRight && state === (states.length === 1 ? states[0] || undefined : undefined);
      }),
    );
  });
});
