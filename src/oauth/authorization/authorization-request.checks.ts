import { Injectable } from '@nestjs/common';
import type { ClientEntity } from '../../clients/client.entity.js';
import { ClientsService } from '../../clients/clients.service.js';
import { isRegisteredRedirectUri } from '../../clients/redirect-uri.js';
import type { Form } from '../../http/form.js';
import { CLIENT_ID_PATTERN } from '../../secrets/ids.js';
import { parseScope } from '../scope-parameter.js';
import type { AuthorizationErrorCode, CheckedRequest } from './authorization-request.js';

// RFC 7636 §4.2: the unpadded base64url form of a SHA-256 digest.
const S256_CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

type Refusal = { error: AuthorizationErrorCode; description: string };

/** The checks of an authorization request, in the order of contract §3's table. */
@Injectable()
export class AuthorizationRequestChecks {
  constructor(private readonly clients: ClientsService) {}

  async check(query: Form): Promise<CheckedRequest> {
    // Until client and redirect URI are known to belong together, nothing may be sent there (RFC 6749 §4.1.2.1).
    if (query.isRepeated('client_id') || query.isRepeated('redirect_uri')) {
      return page('The request names the application or its redirect URI twice.');
    }
    const clientId = query.get('client_id');
    const client = clientId && CLIENT_ID_PATTERN.test(clientId) ? await this.clients.find(clientId) : null;
    if (!client?.enabled)
      return page('The application that sent you here is not known to us, or is disabled.');
    const redirectUri = query.get('redirect_uri');
    if (redirectUri === undefined)
      return page('The request does not say where to send you afterwards (redirect_uri).');
    if (!isRegisteredRedirectUri(redirectUri, client.redirectUris)) {
      return page('The request asks to send you to an address that is not registered for this application.');
    }
    // A state that was sent twice is nobody's state.
    const state = query.isRepeated('state') ? undefined : query.get('state');
    const refusal = findRefusal(query, client);
    if (refusal) return { outcome: 'redirect', redirectUri, state, ...refusal };
    const scope = query.get('scope');
    return {
      outcome: 'request',
      request: {
        client,
        redirectUri,
        scopes: scope === undefined ? client.scopes : parseScope(scope)!,
        state,
        codeChallenge: query.get('code_challenge') ?? null,
        source: query.source,
      },
    };
  }
}

const page = (detail: string): CheckedRequest => ({ outcome: 'page', detail });

const refusal = (error: AuthorizationErrorCode, description: string): Refusal => ({ error, description });

function findRefusal(query: Form, client: ClientEntity): Refusal | undefined {
  if (query.repeated.length > 0) return refusal('invalid_request', 'A parameter was sent more than once.');
  const responseType = query.get('response_type');
  if (responseType === undefined)
    return refusal('invalid_request', 'The parameter response_type is required.');
  if (responseType !== 'code') return refusal('unsupported_response_type', 'The response_type must be code.');
  if (!client.grantTypes.includes('authorization_code')) {
    return refusal('unauthorized_client', 'The client is not registered for authorization_code.');
  }
  const scope = query.get('scope');
  const scopes = scope === undefined ? client.scopes : parseScope(scope);
  if (!scopes || scopes.some((name) => !client.scopes.includes(name))) {
    return refusal('invalid_scope', 'The scope is malformed or more than the client was registered with.');
  }
  return findPkceRefusal(query, client);
}

function findPkceRefusal(query: Form, client: ClientEntity): Refusal | undefined {
  const challenge = query.get('code_challenge');
  const method = query.get('code_challenge_method');
  if (challenge === undefined) {
    if (client.type === 'public')
      return refusal('invalid_request', 'A public client must send a code_challenge.');
    return method === undefined
      ? undefined
      : refusal('invalid_request', 'There is no code_challenge for the method.');
  }
  // RFC 7636 §4.3: left out, the method means plain, which this service does not take.
  if (method !== 'S256') return refusal('invalid_request', 'The code_challenge_method must be S256.');
  if (S256_CHALLENGE.test(challenge)) return undefined;
  return refusal('invalid_request', 'The code_challenge must be 43 base64url characters.');
}
