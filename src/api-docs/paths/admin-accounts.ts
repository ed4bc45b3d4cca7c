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
const SEARCH = query('q', text(), 'A part of the name or the address, or an id.');
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
const rateLimit = orNull(whole('Requests an hour.', { minimum: 1, maximum: 1_000_000_000 }));
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
      'Make a user',
      { 201: json('The user.', ref('User')), ...adminProblems(409, 413, 415) },
      { requestBody: jsonBody(body(userMembers, ['email', 'name'])) },
    ),
  },
  '/admin/users/{id}': {
    get: read(
      'getAdminUser',
      'One user',
      { 200: json('The user.', ref('User')), ...adminProblems(404) },
      { parameters: [user] },
    ),
    patch: write(
      'updateUser',
      'Change a user',
      { 200: json('The user.', ref('User')), ...adminProblems(404, 409, 413, 415) },
      { parameters: [user], requestBody: jsonBody(body({ ...userMembers, enabled: flag() }, [])) },
    ),
    delete: write(
      'eraseUser',
      'Erase a person: account, consents, grants, notifications',
      { 204: noContent('Erased.'), ...adminProblems(404, 409, 413, 415) },
      { parameters: [user] },
    ),
  },
  '/admin/users/{id}/password_links': {
    post: write(
      'createPasswordLink',
      'Make a link to set a password, which works once within 24 hours',
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
        201: secretJson('The client, and this once its secret.', ref('NewClient')),
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
      'One client',
      { 200: json('The client.', ref('Client')), ...adminProblems(404) },
      { parameters: [client] },
    ),
    patch: write(
      'updateClient',
      'Change a client; disabling ends everything that it holds',
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
      'Make a new secret',
      {
        201: secretJson(
          'The secret, this once.',
          object({ client_secret: text(), previous_secret_expires_at: orNull(time()) }),
        ),
        ...adminProblems(404, 409, 413, 415),
      },
      {
        parameters: [client],
        requestBody: jsonBody(
          body(
            {
              expire_previous_in: whole('Seconds for which the secrets before still count; 0: not at all.', {
                minimum: 0,
                maximum: 31_536_000,
                default: 86_400,
              }),
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
      'Revoke every grant and token of a client',
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
      'Record a consent that was given elsewhere, in place of what stood before',
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
      'Take a consent back, with what rests on it',
      { 204: noContent('Taken back.'), ...adminProblems(404, 413, 415) },
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
      'Revoke a grant; the consent stays',
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
      'One scope',
      { 200: json('The scope.', ref('Scope')), ...adminProblems(404) },
      { parameters: [scopeName] },
    ),
    put: write(
      'putScope',
      'Make a scope, or replace its words',
      {
        200: json('The scope, changed.', ref('Scope')),
        201: json('The scope, made.', ref('Scope')),
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
