import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { Form } from '#platform/http/forms/form.js';
import { AuthorizationCodeGrant } from '#entrypoints/oauth/token/authorization-code.grant.js';
import type { TokenGrant } from '#entrypoints/oauth/token/grant-request.js';
import { RefreshTokenGrant } from '#entrypoints/oauth/token/refresh-token.grant.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { REDIRECT_URI } from './factory.js';
import type { TestInstance } from './test-service.js';

type WithApp = Pick<TestInstance, 'app'>;

/** Exchanges a code as the token endpoint does, without HTTP. Throws an OAuthError. */
export function exchangeCode(
  { app }: WithApp,
  clientId: string,
  code: string,
  verifier?: string,
): Promise<IssuedTokens> {
  const sent = { code, redirect_uri: REDIRECT_URI, ...(verifier && { code_verifier: verifier }) };
  return run(app.get(AuthorizationCodeGrant), clientId, sent);
}

/** Refreshes as the token endpoint does, without HTTP. Throws an OAuthError. */
export function refreshTokens(
  { app }: WithApp,
  clientId: string,
  refreshToken: string,
  scopes?: string[],
): Promise<IssuedTokens> {
  const sent = { refresh_token: refreshToken, ...(scopes && { scope: scopes.join(' ') }) };
  return run(app.get(RefreshTokenGrant), clientId, sent);
}

function run(grant: TokenGrant, clientId: string, sent: Record<string, string>): Promise<IssuedTokens> {
  const form = Form.parse(new URLSearchParams(sent).toString());
  return grant.run({ client: { id: clientId } as ClientEntity, form, actor: SERVICE_ACTOR, jkt: undefined });
}
