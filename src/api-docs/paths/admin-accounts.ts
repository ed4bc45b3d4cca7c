import {
  adminProblems,
  json,
  jsonBody,
  list,
  noContent,
  PAGING,
  pathId,
  query,
  secretJson,
} from '../answers.js';
import {
  body,
  flag,
  idOf,
  listOf,
  object,
  oneOf,
  orNull,
  ref,
  text,
  time,
  whole,
  type Paths,
} from '../openapi.js';
import { read, write } from './admin-operation.js';
import { CLIENT_TYPES, GRANT_TYPES } from '../../clients/client.entity.js';
import { SCOPE_AUDIENCES } from '../../scopes/scope.entity.js';
import { USER_KINDS, USER_ROLES } from '../../users/user.entity.js';

const user = pathId('id', idOf('user'));
const client = pathId('client_id', idOf('clnt'));
const consentedUser = pathId('user_id', idOf('user'));
const scopeName = pathId('name', text(undefined, { pattern: '^[a-z0-9_.:-]{1,64}$' }));
const SEARCH = query('q', text(), 'Part of the name or email address, or an id.');
const password = text('12 to 256 characters, no other rules.', { minLength: 12, maxLength: 256 });

const userMembers = {
  email: text(undefined, { format: 'email', maxLength: 254 }),
  name: text(undefined, { minLength: 1, maxLength: 200 }),
  kind: oneOf(...USER_KINDS),
  password,
  role: oneOf(...USER_ROLES),
  webhooks_enabled: flag(),
};
const scopes = listOf(text(), { minItems: 1, maxItems: 20, uniqueItems: true });
const rateLimit = orNull(whole('Requests per hour.', { minimum: 1, maximum: 1_000_000_000 }));
const clientMembers = {
  name: text(undefined, { minLength: 1, maxLength: 100 }),
  grant_types: listOf(oneOf(...GRANT_TYPES), { minItems: 1, uniqueItems: true }),
  redirect_uris: listOf(text(), { maxItems: 20, uniqueItems: true }),
  rate_limit: rateLimit,
  trusted: flag('Confidential clients only.'),
};

/** Accounts, clients, consents, grants and scopes in the admin API (contract §12). */
export const ADMIN_ACCOUNT_PATHS: Paths = {
  '/admin/users': {
    get: read(
      'listAdminUsers',
      'Users by id',
      { 200: list('User'), ...adminProblems() },
      { parameters: [SEARCH, ...PAGING] },
    ),
    post: write(
      'createUser',
      'Create a user',
      { 201: json('The user.', ref('User')), ...adminProblems(409, 413, 415) },
      { requestBody: jsonBody(body(userMembers, ['email', 'name'])) },
    ),
  },
  '/admin/users/{id}': {
    get: read(
      'getAdminUser',
      'Get a user',
      { 200: json('The user.', ref('User')), ...adminProblems(404) },
      { parameters: [user] },
    ),
    patch: write(
      'updateUser',
      'Update a user',
      { 200: json('The user.', ref('User')), ...adminProblems(404, 409, 413, 415) },
      { parameters: [user], requestBody: jsonBody(body({ ...userMembers, enabled: flag() }, [])) },
    ),
    delete: write(
      'eraseUser',
      'Erase a user: account, consents, grants, notifications',
      { 204: noContent('Erased.'), ...adminProblems(404, 409, 413, 415) },
      { parameters: [user] },
    ),
  },
  '/admin/users/{id}/password_links': {
    post: write(
      'createPasswordLink',
      'Create a link to set a password, which works once within 24 hours',
      { 201: secretJson('The link.', object({ url: text() })), ...adminProblems(404, 409, 413, 415) },
      { parameters: [user] },
    ),
  },
  '/admin/users/{id}/revoke_tokens': {
    post: write(
      'revokeUserTokens',
      'Revoke every grant of a user',
      { 200: json('Done.', ref('Revoked')), ...adminProblems(404, 413, 415) },
      { parameters: [user] },
    ),
  },
  '/admin/clients': {
    get: read(
      'listClients',
      'Clients by id',
      { 200: list('Client'), ...adminProblems() },
      { parameters: [SEARCH, ...PAGING] },
    ),
    post: write(
      'createClient',
      'Register a client',
      {
        201: secretJson('The client and, only this once, its secret.', ref('NewClient')),
        ...adminProblems(409, 413, 415),
      },
      {
        requestBody: jsonBody(
          body({ ...clientMembers, type: oneOf(...CLIENT_TYPES), scopes, owner_id: idOf('user') }, [
            'name',
            'type',
            'grant_types',
            'scopes',
            'owner_id',
          ]),
        ),
      },
    ),
  },
  '/admin/clients/{client_id}': {
    get: read(
      'getClient',
      'Get a client',
      { 200: json('The client.', ref('Client')), ...adminProblems(404) },
      { parameters: [client] },
    ),
    patch: write(
      'updateClient',
      'Update a client; disabling it revokes everything that it holds',
      { 200: json('The client.', ref('Client')), ...adminProblems(404, 409, 413, 415) },
      { parameters: [client], requestBody: jsonBody(body({ ...clientMembers, enabled: flag() }, [])) },
    ),
    delete: write(
      'deleteClient',
      'Delete a client with everything that it holds',
      { 204: noContent('Deleted.'), ...adminProblems(404, 413, 415) },
      { parameters: [client] },
    ),
  },
  '/admin/clients/{client_id}/secrets': {
    post: write(
      'rotateClientSecret',
      'Create a new secret',
      {
        201: secretJson(
          'The secret, only this once.',
          object({ client_secret: text(), previous_secret_expires_at: orNull(time()) }),
        ),
        ...adminProblems(404, 409, 413, 415),
      },
      {
        parameters: [client],
        requestBody: jsonBody(
          body(
            {
              expire_previous_in: whole(
                'Seconds for which the previous secrets stay valid; 0: they expire immediately, and the portal links and sessions of the client end.',
                {
                  minimum: 0,
                  maximum: 31_536_000,
                  default: 86_400,
                },
              ),
            },
            [],
          ),
          undefined,
          false,
        ),
      },
    ),
  },
  '/admin/clients/{client_id}/revoke_tokens': {
    post: write(
      'revokeClientTokens',
      'Revoke every grant and token of a client, and end its portal links and sessions',
      { 200: json('Done.', ref('Revoked')), ...adminProblems(404, 413, 415) },
      { parameters: [client] },
    ),
  },
  '/admin/clients/{client_id}/consents': {
    get: read(
      'listConsents',
      'Consents by user, revoked ones too',
      { 200: list('Consent'), ...adminProblems(404) },
      { parameters: [client, ...PAGING] },
    ),
  },
  '/admin/clients/{client_id}/consents/{user_id}': {
    put: write(
      'recordConsent',
      'Record a consent that was given elsewhere; it replaces any earlier one',
      { 200: json('The consent.', ref('Consent')), ...adminProblems(404, 413, 415) },
      {
        parameters: [client, consentedUser],
        requestBody: jsonBody(
          body({ scopes, evidence: orNull(text(undefined, { maxLength: 2000 })) }, ['scopes']),
        ),
      },
    ),
    delete: write(
      'revokeConsent',
      'Revoke a consent, with its grants and tokens',
      { 204: noContent('Revoked.'), ...adminProblems(404, 413, 415) },
      { parameters: [client, consentedUser] },
    ),
  },
  '/admin/grants': {
    get: read(
      'listGrants',
      'Live grants by id',
      { 200: list('Grant'), ...adminProblems() },
      { parameters: [query('client_id', idOf('clnt')), query('user_id', idOf('user')), ...PAGING] },
    ),
  },
  '/admin/grants/{id}': {
    delete: write(
      'revokeGrant',
      'Revoke a grant; the consent is kept',
      { 204: noContent('Revoked.'), ...adminProblems(404, 413, 415) },
      { parameters: [pathId('id', idOf('grnt'))] },
    ),
  },
  '/admin/scopes': {
    get: read('listScopes', 'The scope catalogue', {
      200: json('Every scope, by name.', listOf(ref('Scope'))),
      ...adminProblems(),
    }),
  },
  '/admin/scopes/{name}': {
    get: read(
      'getScope',
      'Get a scope',
      { 200: json('The scope.', ref('Scope')), ...adminProblems(404) },
      { parameters: [scopeName] },
    ),
    put: write(
      'putScope',
      'Create a scope, or replace its description and audience',
      {
        200: json('The updated scope.', ref('Scope')),
        201: json('The created scope.', ref('Scope')),
        ...adminProblems(409, 413, 415),
      },
      {
        parameters: [scopeName],
        requestBody: jsonBody(
          body({ description: text(undefined, { maxLength: 300 }), audience: oneOf(...SCOPE_AUDIENCES) }, [
            'description',
            'audience',
          ]),
        ),
      },
    ),
  },
};
