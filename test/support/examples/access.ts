import { createHash } from 'node:crypto';
import { REDIRECT_URI } from '../factory.js';
import { receiptOf } from '../receipts.js';
import { credentialsOf } from '../oauth.js';
import type { Call } from './recorder.js';
import type { Stage } from './stage.js';

// Of RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const UNKNOWN_SECRET = 'cds_cs_EXAMPLE';

/** The authorization, the tokens and what becomes of them. Returns a token of the user. */
export async function recordAccess(stage: Stage): Promise<string> {
  const { partner, ada, operator } = stage.cast;
  await stage.perform('metadata', 200, {}, {});
  await stage.perform('resourceMetadata', 200, {}, {});
  await stage.perform('openIdMetadata', 200, {}, {});
  await recordAuthorization(stage);
  const pushed = {
    form: {
      ...{ ...credentialsOf(partner), response_type: 'code', redirect_uri: REDIRECT_URI, state: 'k8Vn2' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    },
  };
  await recordOAuthRefusals(stage, 'pushAuthorizationRequest', pushed);
  await stage.perform('pushAuthorizationRequest', 201, pushed, {});
  const code = await stage.service.make.code(partner, ada, {
    pkce: { verifier: VERIFIER, challenge: CHALLENGE },
  });
  await makeReceipt(stage);
  await stage.perform('receiptKeys', 200, {}, {});
  const form = { ...credentialsOf(partner), code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER };
  const exchanged = { form: { grant_type: 'authorization_code', ...form } };
  await recordOAuthRefusals(stage, 'token', exchanged);
  const first = await stage.perform('token', 200, exchanged, {}, 'authorization_code');
  const unknown = { form: { ...exchanged.form, code: 'cds_ac_EXAMPLE' } };
  await stage.recorder.answer('token', 400, unknown, 'invalid_grant');
  const refreshed = await stage.perform(
    'token',
    200,
    {
      form: {
        grant_type: 'refresh_token',
        ...credentialsOf(partner),
        refresh_token: first.json.refresh_token as string,
      },
    },
    {},
    'refresh_token',
  );
  const forClients = { form: { grant_type: 'client_credentials', ...credentialsOf(partner) } };
  const token = (await stage.perform('token', 200, forClients, {}, 'client_credentials')).json
    .access_token as string;
  await recordIntrospection(stage, refreshed.json.access_token as string);
  await recordChangeFeed(stage);
  await recordDisclosures(stage);
  const revoked = { form: { ...credentialsOf(partner), token } };
  await recordOAuthRefusals(stage, 'revokeToken', revoked);
  await stage.perform('revokeToken', 200, revoked, {});
  await stage.perform('introspect', 200, { form: { ...credentialsOf(operator), token } }, {}, 'inactive');
  return refreshed.json.access_token as string;
}

async function recordIntrospection(stage: Stage, token: string): Promise<void> {
  const { operator, partner, ada } = stage.cast;
  const call = { form: { ...credentialsOf(operator), token, user_id: ada.id } };
  await recordOAuthRefusals(stage, 'introspect', call);
  await stage.recorder.answer('introspect', 403, { form: { ...call.form, ...credentialsOf(partner) } });
  await stage.perform('introspect', 200, call, {}, 'active');
}

/** Its stream does not end, so its example is written by hand. */
async function recordChangeFeed({ recorder, partnerToken, performed }: Stage): Promise<void> {
  const unknown = { bearer: 'cds_at_EXAMPLE' };
  await recorder.answer('followAccessChanges', 401, unknown);
  await recorder.answer('followAccessChanges', 403, { bearer: partnerToken });
  performed.set('followAccessChanges', unknown);
}

async function recordDisclosures(stage: Stage): Promise<void> {
  const { partner, ada } = stage.cast;
  const batch = (scope: string) => ({
    batch_id: '6f1c2a58-6f6f-4bb5-9b0c-0f5a7a0f4a6e',
    disclosures: [{ client_id: partner.id, user_id: ada.id, scope, requests: 12 }],
  });
  await stage.operator('reportDisclosures', 200, { json: batch('vehicle:read') });
  await stage.recorder.answer('reportDisclosures', 422, {
    bearer: stage.operatorToken,
    json: batch('charging_session:read'),
  });
}

async function recordOAuthRefusals(
  stage: Stage,
  id: string,
  { form }: { form: Record<string, string | undefined> },
): Promise<void> {
  const refuse = (status: number, change: Call, name?: string) =>
    stage.recorder.answer(id, status, change, name);
  await refuse(
    400,
    { form: { ...form, grant_type: undefined, response_type: undefined, token: undefined } },
    'invalid_request',
  );
  await refuse(401, { form: { ...form, client_secret: UNKNOWN_SECRET } });
  await refuse(413, {
    body: `token=${'x'.repeat(70_000)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await refuse(415, { form, headers: { 'content-encoding': 'gzip' } });
}

/** The consent page for a user who is signed in, and what is shown and answered otherwise. */
async function recordAuthorization(stage: Stage): Promise<void> {
  const { partner, ada } = stage.cast;
  const browser = await stage.service.make.signedIn(ada);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { accept: 'text/html', cookie };
  const query = {
    response_type: 'code',
    client_id: partner.id,
    redirect_uri: REDIRECT_URI,
    scope: partner.scopes.join(' '),
    state: 'af0ifjsldkj',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
  };
  await stage.perform('authorize', 200, { query, headers }, {});
  const answer = (status: number, call: Call) => stage.recorder.answer('authorize', status, call);
  await answer(400, { query: { ...query, client_id: 'unknown' }, headers: { accept: 'application/json' } });
  await answer(302, { query, headers: { accept: 'text/html' } });
}

/** The first receipt makes the key. */
async function makeReceipt({ service, cast: { ada } }: Stage): Promise<void> {
  const [version] = await service.database.column<string>(
    'SELECT id FROM consent_versions WHERE user_id = $1',
    [ada.id],
  );
  await receiptOf(await service.make.signedIn(ada), version!);
}
