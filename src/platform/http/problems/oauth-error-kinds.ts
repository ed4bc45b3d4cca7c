/** What an error of OAuth means to a client, and what to do about it. */
export interface OAuthErrorKind {
  cause: string;
  whatToDo: string;
}

/** Every `error` of `/o/token`, `/o/par`, `/o/revoke_token/` and `/o/introspect/` (contract §4 and §5). */
export const OAUTH_ERROR_KINDS = {
  invalid_request: {
    cause:
      'A parameter is missing, malformed, sent twice or sent in the query string; the body is not a form; or the client authenticates in two ways at once.',
    whatToDo:
      'Read error_description and correct the request. Send parameters in the body, as application/x-www-form-urlencoded.',
  },
  invalid_client: {
    cause:
      'The client is unknown or disabled, its secret is wrong or has expired, it did not authenticate, or a public client sent a secret.',
    whatToDo:
      'Check the client id and the secret, and that the secret was not replaced. Do not repeat the request unchanged. Your contact sees the refusals of your client.',
  },
  invalid_grant: {
    cause:
      'The code or refresh token is unknown, expired, used or revoked, belongs to another client, or to another redirect URI or verifier; or the user has withdrawn the consent.',
    whatToDo: 'Forget the code or the tokens, and send the user to the authorization page again.',
  },
  unauthorized_client: {
    cause: 'The client is not registered for this grant type, or its owner is disabled.',
    whatToDo: 'Ask your contact for the grant type that you need.',
  },
  unsupported_grant_type: {
    cause:
      'The service does not have this grant type. It has authorization_code, refresh_token and client_credentials.',
    whatToDo: 'Use one of these. There is no password grant and no implicit grant.',
  },
  invalid_scope: {
    cause:
      'A scope is malformed, is one that the client is not registered for, or was not granted by the user.',
    whatToDo: 'Ask for less, or leave scope out: the token then has everything that is allowed.',
  },
  invalid_target: {
    cause:
      'A resource is malformed or unknown, or was not among those of the authorization request that the code or the refresh token came from.',
    whatToDo:
      'Ask for resources that protected_resources of the metadata names, and at most for those of the authorization request; or leave resource out.',
  },
  invalid_token: {
    cause: 'The access token with which a client authenticates at the introspection endpoint is not valid.',
    whatToDo: 'Get a new one.',
  },
  invalid_dpop_proof: {
    cause:
      'A DPoP proof is missing where one is required, is malformed, is about another request, token or key, is too old, or was used before.',
    whatToDo:
      'Read error_description. Make a new proof for each request, with the key that the code or the token is bound to, and keep the clock right.',
  },
  use_dpop_nonce: {
    cause: 'The service requires a nonce in DPoP proofs.',
    whatToDo:
      'Repeat the request with a proof that has the nonce of the header DPoP-Nonce. Most libraries do so by themselves.',
  },
  unsupported_response_type: {
    cause: 'The response_type of a pushed request is not code.',
    whatToDo: 'Send response_type=code. There is no implicit flow.',
  },
  insufficient_scope: {
    cause: 'The client may not introspect tokens.',
    whatToDo: 'Use a client that has the scope token:introspect. Partners do not need introspection.',
  },
} as const satisfies Record<string, OAuthErrorKind>;

/** Every `error` with which the authorization page sends a user back to the redirect URI (contract §3). */
export const AUTHORIZATION_ERROR_KINDS = {
  access_denied: {
    cause: 'The user pressed Cancel.',
    whatToDo: 'Say that nothing was connected, and offer to try again.',
  },
  invalid_request: {
    cause:
      'A parameter is missing, sent twice or wrong; a public client sent no code_challenge; or the code_challenge_method is not S256.',
    whatToDo: 'Read error_description and correct the address.',
  },
  invalid_scope: {
    cause: 'A scope is malformed, or the client is not registered for it.',
    whatToDo: 'Ask for fewer scopes, or leave scope out.',
  },
  invalid_target: {
    cause: 'A resource is malformed or unknown.',
    whatToDo: 'Ask for resources that protected_resources of the metadata names, or leave resource out.',
  },
  unmet_authentication_requirements: {
    cause: 'The acr_values ask for two factors, and the user has no second factor here.',
    whatToDo: 'Ask the user to set one up, or do without what needs it.',
  },
  unauthorized_client: {
    cause:
      'The client is not registered for authorization_code, or is a gatekeeper, with which users cannot share data.',
    whatToDo: 'Ask your contact for this grant type.',
  },
  unsupported_response_type: {
    cause: 'The response_type is not code.',
    whatToDo: 'Send response_type=code. There is no implicit flow.',
  },
} as const satisfies Record<string, OAuthErrorKind>;
