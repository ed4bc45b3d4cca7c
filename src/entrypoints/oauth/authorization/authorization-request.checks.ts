import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { isRegisteredRedirectUri } from '#access/clients/redirect-uri.js';
import type { Form } from '#platform/http/forms/form.js';
import { CLIENT_ID_PATTERN } from '#platform/secrets/ids.js';
import { authenticationRequestIn } from './authentication-request.js';
import { PushedRequests } from '../par/pushed-requests.service.js';
import { notRegisteredFor } from '../refusals.js';
import { repeatedParameter } from '../repeated-parameter.js';
import { RequestedResources } from '../resources/requested-resources.service.js';
import { parseScope } from '../scope-parameter.js';
import type { CheckedRequest } from './authorization-request.js';

// RFC 7636 §4.2: the unpadded base64url form of a SHA-256 digest.
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
// RFC 9449 §10: the same form of a thumbprint (RFC 7638).
const JKT = S256_CHALLENGE;

type Refusal = Pick<Extract<CheckedRequest, { outcome: 'redirect' }>, 'error' | 'description'>;

/** The checks of an authorization request, in the order of the table in contract §3. */
@Injectable()
export class AuthorizationRequestChecks {
  constructor(
    private readonly clients: ClientsService,
    private readonly pushed: PushedRequests,
    private readonly resources: RequestedResources,
  ) {}

  /**
   * The request of the authorization page. One that its client has pushed (RFC 9126) is taken from there, whatever is beside it. `posted`:
   * the form with the decision.
   */
  async check(query: Form, posted?: Form): Promise<CheckedRequest> {
    if (query.get('request_uri') === undefined) return this.checkParameters(query, 'not pushed');
    if (query.isRepeated('client_id') || query.isRepeated('request_uri')) {
      return page(say('The request contains client_id or request_uri more than once.'));
    }
    const opened = await this.pushed.open(query, posted);
    if (!opened) {
      return page(
        say(
          'The request that sent you here is unknown, was used already, or has expired. Please go back to the application and start again.',
        ),
      );
    }
    const checked = await this.checkParameters(opened.query, 'pushed');
    if (checked.outcome !== 'request') return checked;
    const { pushed, source } = opened;
    return { outcome: 'request', request: { ...checked.request, source, pushed } };
  }

  /** A request that its client is about to push. */
  checkPushed(form: Form): Promise<CheckedRequest> {
    return this.checkParameters(form, 'pushed');
  }

  private async checkParameters(query: Form, how: 'pushed' | 'not pushed'): Promise<CheckedRequest> {
    // Until client and redirect URI are known to belong together, nothing may be sent to the redirect URI (RFC 6749 §4.1.2.1).
    if (query.isRepeated('client_id') || query.isRepeated('redirect_uri')) {
      return page(say('The request contains client_id or redirect_uri more than once.'));
    }
    const clientId = query.get('client_id');
    const client = clientId && CLIENT_ID_PATTERN.test(clientId) ? await this.clients.find(clientId) : null;
    if (!client?.enabled) return page(say('The application that sent you here is unknown or disabled.'));
    const redirectUri = query.get('redirect_uri');
    if (redirectUri === undefined)
      return page(say('The request does not say where to send you afterwards: redirect_uri is missing.'));
    if (!isRegisteredRedirectUri(redirectUri, client.redirectUris)) {
      return page(
        say('The request asks to send you to a redirect_uri that is not registered for this application.'),
      );
    }
    // A repeated state is not sent back: it is unclear which one is the client's.
    const state = query.isRepeated('state') ? undefined : query.get('state');
    const refusal = findRefusal(query, client, how);
    if (refusal) return { outcome: 'redirect', redirectUri, state, ...refusal };
    const authentication = authenticationRequestIn(query);
    if (authentication && 'refused' in authentication) {
      const { refused: description } = authentication;
      return { outcome: 'redirect', redirectUri, state, error: 'invalid_request', description };
    }
    const requested = await this.resources.check(query);
    if ('refused' in requested) {
      const { refused: description } = requested;
      return { outcome: 'redirect', redirectUri, state, error: 'invalid_target', description };
    }
    const scope = query.get('scope');
    return {
      outcome: 'request',
      request: {
        client,
        redirectUri,
        scopes: scope === undefined ? client.scopes : parseScope(scope)!,
        state,
        codeChallenge: query.get('code_challenge') ?? null,
        resources: requested.resources ?? null,
        authentication,
        dpopJkt: query.get('dpop_jkt') ?? null,
        source: query.source,
      },
    };
  }
}

const page = (detail: string): CheckedRequest => ({ outcome: 'page', detail });

const refusal = (error: Refusal['error'], description: string): Refusal => ({ error, description });

function findRefusal(query: Form, client: ClientEntity, how: 'pushed' | 'not pushed'): Refusal | undefined {
  if (client.requirePushedAuthorizationRequests && how === 'not pushed') {
    return refusal('invalid_request', 'This client must push its authorization requests.');
  }
  const repeated = repeatedParameter(query);
  if (repeated !== undefined) return refusal('invalid_request', repeated);
  const responseType = query.get('response_type');
  if (responseType === undefined)
    return refusal('invalid_request', 'The parameter response_type is required.');
  if (responseType !== 'code') return refusal('unsupported_response_type', 'The response_type must be code.');
  // OAuth 2.0 Multiple Response Types §2.1: with another mode, the client would look for the response elsewhere.
  const responseMode = query.get('response_mode');
  if (responseMode !== undefined && responseMode !== 'query') {
    return refusal('invalid_request', 'The response_mode must be query.');
  }
  if (!client.grantTypes.includes('authorization_code')) {
    return refusal('unauthorized_client', 'The client is not registered for authorization_code.');
  }
  if (client.gatekeeper) {
    return refusal('unauthorized_client', 'The client is a gatekeeper, with which users cannot share data.');
  }
  const scope = query.get('scope');
  const scopes = scope === undefined ? client.scopes : parseScope(scope);
  if (!scopes)
    return refusal('invalid_scope', 'The scope must be a list of names separated by single spaces.');
  const beyond = scopes.find((name) => !client.scopes.includes(name));
  if (beyond !== undefined) return refusal('invalid_scope', notRegisteredFor(beyond));
  const jkt = query.get('dpop_jkt');
  if (jkt !== undefined && !JKT.test(jkt)) {
    return refusal(
      'invalid_request',
      'The dpop_jkt must be the SHA-256 thumbprint of a key: 43 base64url characters.',
    );
  }
  return findPkceRefusal(query, client);
}

function findPkceRefusal(query: Form, client: ClientEntity): Refusal | undefined {
  const challenge = query.get('code_challenge');
  const method = query.get('code_challenge_method');
  if (challenge === undefined) {
    if (client.type === 'public')
      return refusal('invalid_request', 'A public client must send a code_challenge.');
    if (client.requirePkce) return refusal('invalid_request', 'This client must send a code_challenge.');
    return method === undefined
      ? undefined
      : refusal('invalid_request', 'A code_challenge_method was sent without a code_challenge.');
  }
  // RFC 7636 §4.3: if omitted, the method is plain, which this service does not support.
  if (method !== 'S256') return refusal('invalid_request', 'The code_challenge_method must be S256.');
  if (S256_CHALLENGE.test(challenge)) return undefined;
  return refusal('invalid_request', 'The code_challenge must be 43 base64url characters.');
}
