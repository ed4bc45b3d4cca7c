import { Injectable } from '@nestjs/common';
import { AuthorizationCodesService } from '../../tokens/authorization-codes.service.js';
import type { IssuedTokens } from '../../tokens/issued-tokens.js';
import { invalidRequest } from '../oauth-error.js';
import { invalidGrant } from '../refusals.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

// RFC 7636 §4.1: code-verifier = 43*128unreserved.
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** RFC 6749 §4.1.3 with PKCE (RFC 7636): exchanges a code for the first tokens of a grant. */
@Injectable()
export class AuthorizationCodeGrant implements TokenGrant {
  constructor(private readonly codes: AuthorizationCodesService) {}

  async run({ client, form, actor }: GrantRequest): Promise<IssuedTokens> {
    const code = form.get('code');
    // RFC 6749 §4.1.3: REQUIRED if it was in the authorization request, where this service always requires it.
    const redirectUri = form.get('redirect_uri');
    const codeVerifier = form.get('code_verifier');
    if (code === undefined) throw invalidRequest('The parameter code is required.');
    if (redirectUri === undefined) throw invalidRequest('The parameter redirect_uri is required.');
    if (codeVerifier !== undefined && !CODE_VERIFIER.test(codeVerifier)) {
      throw invalidRequest('The code_verifier must be 43 to 128 unreserved characters.');
    }
    const result = await this.codes.exchange({ code, clientId: client.id, redirectUri, codeVerifier }, actor);
    if ('refused' in result) throw invalidGrant(result.refused);
    return result;
  }
}
