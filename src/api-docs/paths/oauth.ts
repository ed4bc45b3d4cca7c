import { formBody, json, oauthRefusals, problems, query, secretJson } from '../answers.js';
import { body, flag, listOf, object, oneOf, ref, text, whole, type Answer, type Paths } from '../openapi.js';

const CLIENT_AUTHENTICATION: Record<string, string[]>[] = [{ clientBasic: [] }, {}];
const credentials = {
  client_id: text('With `client_secret`, or alone for a public client; not with HTTP Basic.'),
  client_secret: text(),
};

/** A page if the browser asks for one, otherwise a problem. */
const pageRefusal = (description: string): Answer => ({
  description,
  content: { 'text/html': { schema: text() }, 'application/problem+json': { schema: ref('Problem') } },
});

/** `/o/*` and the metadata (contract §3, §4, §5). */
export const OAUTH_PATHS: Paths = {
  '/o/authorize/': {
    get: {
      operationId: 'authorize',
      summary: 'Authorization page',
      description:
        'Opened by the end user in a browser; also without the trailing slash. Redirects to `redirect_uri` with `code` or `error`, `state` and `iss` (RFC 9207).',
      tags: ['OAuth'],
      security: [],
      parameters: [
        query('response_type', oneOf('code')),
        query('client_id', text()),
        query('redirect_uri', text(), 'As registered; on a loopback address with any port.'),
        query('scope', text(), 'Defaults to all scopes of the client.'),
        query('state', text()),
        query('code_challenge', text(undefined, { pattern: '^[A-Za-z0-9_-]{43}$' })),
        query('code_challenge_method', oneOf('S256')),
      ],
      responses: {
        200: {
          description: 'The consent page.',
          content: { 'text/html': { schema: text() } },
        },
        302: {
          description: 'To the login page, or back to the client.',
          headers: { Location: { required: true, schema: text() } },
        },
        303: {
          description: 'To the login page, or back to the client.',
          headers: { Location: { required: true, schema: text() } },
        },
        400: pageRefusal('The client or the redirect URI is unknown, so there is nowhere to redirect to.'),
        406: pageRefusal('None of the requested media types is available.'),
        429: pageRefusal('Too many requests.'),
        500: pageRefusal('An unexpected error occurred.'),
        503: pageRefusal('The database is unavailable, or the service is stopping.'),
      },
    },
  },
  '/o/token': {
    post: {
      operationId: 'token',
      summary: 'Token endpoint',
      description:
        'Also with a trailing slash. Grants: `authorization_code`, `client_credentials`, `refresh_token`.',
      tags: ['OAuth'],
      security: CLIENT_AUTHENTICATION,
      requestBody: formBody(
        body(
          {
            grant_type: oneOf('authorization_code', 'client_credentials', 'refresh_token'),
            code: text('Works once, for one minute.'),
            redirect_uri: text('As in the authorization request.'),
            code_verifier: text('Required if a challenge was sent.', {
              pattern: '^[A-Za-z0-9._~-]{43,128}$',
            }),
            refresh_token: text(),
            scope: text('Narrower than what was granted; defaults to all of it.'),
            ...credentials,
          },
          ['grant_type'],
        ),
      ),
      responses: {
        200: secretJson('Tokens.', ref('TokenResponse'), { Pragma: { required: true, schema: text() } }),
        ...oauthRefusals(400, 401),
      },
    },
  },
  '/o/revoke_token/': {
    post: {
      operationId: 'revokeToken',
      summary: 'Revocation (RFC 7009)',
      description:
        'The trailing slash is required: without it the response is 405. A refresh token is revoked with its whole grant, an access token alone.',
      tags: ['OAuth'],
      security: CLIENT_AUTHENTICATION,
      requestBody: formBody(
        body({ token: text(), token_type_hint: oneOf('access_token', 'refresh_token'), ...credentials }, [
          'token',
        ]),
      ),
      responses: {
        200: secretJson('The token is no longer valid, or never was.', object({}), {
          Pragma: { required: true, schema: text() },
        }),
        ...oauthRefusals(400, 401),
      },
    },
  },
  '/o/introspect/': {
    post: {
      operationId: 'introspect',
      summary: 'Introspection (RFC 7662)',
      description: 'For a client with `token:introspect`. Also without the trailing slash.',
      tags: ['OAuth'],
      security: [{ clientBasic: [] }, { bearer: ['token:introspect'] }, {}],
      requestBody: formBody(
        body(
          {
            token: text(),
            token_type_hint: text(),
            user_id: text('If given, `scope` is what the token may do with the data of this user.'),
            ...credentials,
          },
          ['token'],
        ),
      ),
      responses: {
        200: secretJson('What the token may do; anything but a valid access token is not active.', {
          oneOf: [
            object({ active: { const: false } }),
            object({
              active: { const: true },
              scope: text(),
              client_id: text(),
              sub: text('The id of the user; for client credentials that of the client.'),
              grant_type: oneOf('authorization_code', 'client_credentials'),
              token_type: oneOf('Bearer'),
              exp: whole(),
              iat: whole(),
              iss: text(),
            }),
          ],
        }),
        ...oauthRefusals(400, 401, 403),
      },
    },
  },
  '/.well-known/oauth-authorization-server': {
    get: {
      operationId: 'metadata',
      summary: 'Authorization server metadata (RFC 8414)',
      tags: ['OAuth'],
      security: [],
      responses: {
        200: json(
          'Reflects the running configuration.',
          object({
            issuer: text(),
            ...Object.fromEntries(
              ['authorization', 'token', 'revocation', 'introspection'].map((name) => [
                `${name}_endpoint`,
                text(),
              ]),
            ),
            ...Object.fromEntries(
              [
                'scopes_supported',
                'response_types_supported',
                'response_modes_supported',
                'grant_types_supported',
                'code_challenge_methods_supported',
                'token_endpoint_auth_methods_supported',
                'revocation_endpoint_auth_methods_supported',
                'introspection_endpoint_auth_methods_supported',
              ].map((name) => [name, listOf(text())]),
            ),
            authorization_response_iss_parameter_supported: flag(),
          }),
        ),
        ...problems(500, 503),
      },
    },
  },
};
