import { DataSource } from 'typeorm';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { AuthorizationCodesService } from '#access/tokens/codes/authorization-codes.service.js';
import { PARTNER_SCOPES, REDIRECT_URI } from './factory.js';
import type { TestInstance } from './test-service.js';

/** Issues a code for a user's consent to both partner scopes, as the pages do, but without the pages. */
export async function consentedCode(
  { app }: Pick<TestInstance, 'app'>,
  clientId: string,
  userId: string,
): Promise<string> {
  await app.get(ConsentApprovals).record(clientId, userId, PARTNER_SCOPES, null, SERVICE_ACTOR);
  const given = { clientId, userId, redirectUri: REDIRECT_URI, scopes: PARTNER_SCOPES };
  const free = { codeChallenge: null, dpopJkt: null };
  return app
    .get(DataSource)
    .transaction(() => app.get(AuthorizationCodesService).issue({ ...given, ...free }));
}
