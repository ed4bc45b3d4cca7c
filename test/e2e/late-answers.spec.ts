import { Client } from 'pg';
import { accessTokenId } from '#access/tokens/keys/token-record.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { changesRead } from '../support/changes-read.js';
import { type Answer, madeForEach, PATIENT, useSharedService } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { accessRecordOf } from '../support/tokens.js';

/** The token was accepted, and then the database kept the request waiting. */
describe('A token that ends while its request is carried out', () => {
  const service = useSharedService({ databaseOptions: PATIENT });
  const client = madeForEach(() => service.make.client());
  let token: string;
  let slow: Client;
  let outside: Client;

  const connection = async (): Promise<Client> => {
    const made = new Client({ connectionString: service.database.url });
    await made.connect();
    return made;
  };
  beforeAll(async () => {
    [slow, outside] = [await connection(), await connection()];
    // Nothing else waits for the tables that the tests lock.
    jest.spyOn(service.app.get(NotificationsService), 'resolveDue').mockResolvedValue();
    await leaveOutScheduledPurges(service);
  });
  beforeEach(async () => {
    token = (await service.make.tokens(client, await service.make.user())).access_token;
  });
  afterAll(async () => {
    await slow.end();
    await outside.end();
  });

  const revoke = async () => {
    await outside.query(
      "INSERT INTO revoked_access_tokens (id, expires_at) VALUES ($1, now() + interval '1 hour')",
      [accessTokenId(await accessRecordOf(service, token))],
    );
  };

  /** Sends a request that needs a table which is locked, lets something happen in the meantime, and unlocks it more than 100 ms later. */
  async function sentWhile(
    table: string,
    send: () => Promise<Answer>,
    meanwhile: () => Promise<unknown>,
  ): Promise<Answer> {
    await slow.query('BEGIN');
    await slow.query(`LOCK TABLE ${table}`);
    const answer = send();
    await untilWaitingForLocks(service.database, 1);
    await meanwhile();
    await changesRead(service);
    // However fast this machine is, the request has waited for longer than an accepted token is trusted.
    await slow.query('SELECT pg_sleep(0.15)');
    await slow.query('ROLLBACK');
    return answer;
  }
  const readNotifications = () => service.http.get('/notifications', { bearer: token });

  it('gets no answer but 401', async () => {
    expect((await readNotifications()).status).toBe(200);
    const answer = await sentWhile('notifications', readNotifications, revoke);
    expect([answer.status, Object.keys(answer.json as object).sort()]).toEqual([
      401,
      ['detail', 'status', 'title'],
    ]);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(answer.headers.get('link')).toBeNull();
  });

  it('gets none either where its rights became narrower', async () => {
    const narrowed = () =>
      outside.query("UPDATE consents SET scopes = '{vehicle:read}' WHERE client_id = $1", [client.id]);
    const answer = await sentWhile('notifications', readNotifications, narrowed);
    expect([answer.status, answer.json.detail]).toEqual([
      401,
      'What the access token may do changed while the request was carried out. Send it again.',
    ]);
    expect((await readNotifications()).status).toBe(200);
  });

  it('is answered in the format of OAuth where a service introspects by its own token', async () => {
    const operator = await service.make.client({
      grantTypes: ['client_credentials'],
      scopes: ['token:introspect'],
      redirectUris: [],
    });
    const bearer = await service.make.clientToken(operator);
    const ofClient = await service.make.clientToken(client);
    const introspect = () =>
      service.http.send('/o/introspect/', { bearer, form: { token: ofClient, user_id: client.ownerId } });
    expect((await introspect()).status).toBe(200);
    const answer = await sentWhile('consents', introspect, () =>
      outside.query('UPDATE clients SET enabled = false WHERE id = $1', [operator.id]),
    );
    expect([answer.status, answer.json.error]).toEqual([401, 'invalid_token']);
  });

  it('is not active where a service introspects it by its credentials', async () => {
    const { id, secret } = await service.make.operatorClient(['token:introspect']);
    token = await service.make.clientToken(client);
    const introspect = () =>
      service.http.send('/o/introspect/', {
        basic: { id, secret },
        form: { token, user_id: client.ownerId },
      });
    expect((await introspect()).json.active).toBe(true);
    const answer = await sentWhile('consents', introspect, revoke);
    expect([answer.status, answer.json]).toEqual([200, { active: false }]);
  });

  it('is judged last of all where it is introspected, after the consent was read, which is not waited for again', async () => {
    const { id, secret } = await service.make.operatorClient(['token:introspect']);
    token = await service.make.clientToken(client);
    const form = { token, user_id: client.ownerId };
    const introspect = () => service.http.send('/o/introspect/', { basic: { id, secret }, form });
    const reading = jest.spyOn(service.app.get(ConsentsService), 'findSharing');
    const judging = jest.spyOn(service.app.get(AccessTokensService), 'findForAnyone');
    const answer = await sentWhile('consents', introspect, () => Promise.resolve());
    const [reads, judgements] = [reading, judging].map(({ mock }) => mock.invocationCallOrder);
    expect([answer.json.active, reads!.length, judgements!.at(-1)! > reads![0]!]).toEqual([true, 1, true]);
    for (const each of [reading, judging]) each.mockRestore();
  });

  it('is answered with what it did if it changed something, such as its own client', async () => {
    const own = await service.make.operatorClient();
    const bearer = await service.make.clientToken(own);
    const disable = () =>
      service.http.send(`/admin/clients/${own.id}`, { method: 'PATCH', bearer, json: { enabled: false } });
    const answer = await sentWhile('audit_events', disable, () => Promise.resolve());
    expect([answer.status, answer.json.enabled]).toEqual([200, false]);
    expect((await service.http.get('/admin/clients', { bearer })).status).toBe(401);
  });

  it('is answered if it is still valid', async () => {
    const other = await service.make.user();
    const answer = await sentWhile('notifications', readNotifications, () =>
      service.app.get(UsersService).update(other.id, { enabled: false }, SERVICE_ACTOR),
    );
    expect(answer.status).toBe(200);
  });
});
