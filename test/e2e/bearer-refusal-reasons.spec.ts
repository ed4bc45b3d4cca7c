import { ActivityService } from '#records/activity/activity.service.js';
import {
  clientRefusalMessage,
  refusalMessageForPartner,
} from '#events/partners/refusals/refusal-messages.js';
import { type Answer, expectOAuthError, revoke, type TestClient, useSharedService } from '../support/spec.js';
import { endingIn, strangeToken } from '../support/tokens.js';
import { listOf } from '../support/list-of.js';

const service = useSharedService();

const reasonsOf = async (of: TestClient) => {
  await service.app.get(ActivityService).flush();
  return service.database.column<string>(
    "SELECT detail FROM activity_hours WHERE client_id = $1 AND kind = 'bearer_refused' ORDER BY detail",
    [of.id],
  );
};

describe('The holder of an access token is told', () => {
  const use = (bearer: string) => service.http.get('/v2/users', { bearer });
  const expectTold = (answer: Answer, description: string) => {
    expect(answer.json).toEqual({ status: 401, title: 'Unauthorized', detail: description });
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="Charging Data Service", error="invalid_token", error_description="${description}"`,
    );
  };

  it('that it is malformed, unknown, expired or revoked, but not what happened to user, client or consent', async () => {
    const [client, user] = [await service.make.client(), await service.make.user()];
    const MALFORMED = 'The access token is malformed: it was truncated or changed in transit.';
    const UNKNOWN = 'The access token is unknown: it was never issued, or ended some time ago.';
    const REVOKED = 'The access token was revoked.';
    expectTold(await use('x'), MALFORMED);
    expectTold(await use(strangeToken('access')), UNKNOWN);
    const expired = await endingIn(service, await service.make.clientToken(client), -1);
    expectTold(await use(expired), 'The access token has expired.');
    const revoked = await service.make.clientToken(client);
    await revoke(service.http, client, revoked);
    expectTold(await use(revoked), REVOKED);
    const { access_token } = await service.make.tokens(client, user);
    await service.make.revokeConsent(client, user);
    expectTold(await use(access_token), REVOKED);
    const own = await service.make.clientToken(client);
    await service.make.updateClient(client, { enabled: false });
    expectTold(await use(own), REVOKED);
    expect(await reasonsOf(client)).toEqual(
      listOf(`
      client_disabled, consent_withdrawn, token_expired, token_revoked
    `),
    );
  });

  it('the same at the introspection endpoint', async () => {
    const inspector = await service.make.operatorClient(['token:introspect']);
    const bearer = await service.make.clientToken(inspector);
    await revoke(service.http, inspector, bearer);
    const answer = await service.http.send('/o/introspect', { bearer, form: { token: 'x' } });
    expectOAuthError(answer, 401, 'invalid_token');
    expect(answer.json.error_description).toBe('The access token was revoked.');
    expect(await reasonsOf(inspector)).toEqual(['token_revoked']);
  });
});

describe('Of a revoked access token', () => {
  it('operators and partners read that the client needs a new one: it may be its own, or leave its refresh token', () => {
    for (const messageOf of [clientRefusalMessage, refusalMessageForPartner]) {
      const { help } = messageOf('bearer_refused', 'token_revoked');
      expect(help).toContain('The client needs a new token; if a refresh is refused too, the user has to');
    }
  });
});
