import { Client } from 'pg';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { TokenKeysService } from '#access/tokens/keys/token-keys.service.js';
import { TokenRevocationService } from '#access/tokens/access/token-revocation.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { consentedCode } from '../support/codes.js';
import { PARTNER_SCOPES, type TestClient, until } from '../support/spec.js';
import { whileCut, whileFrozen } from '../support/listening-connections.js';
import { UNLIMITED } from '../support/load.js';
import { startInstance, type TestInstance, useService } from '../support/test-service.js';
import { exchangeCode, refreshTokens } from '../support/token-requests.js';
import { heardEverywhere, TrackedTokens, type Judge, type Tracked } from '../support/tracked-tokens.js';

interface Family {
  client: TestClient;
  userId: string;
  refreshToken: string;
}

/** Tokens are issued, used and revoked on several instances concurrently, while their connections break. */
describe('Tokens under load, during changes and faults,', () => {
  const service = useService({ instances: 2, env: UNLIMITED });
  let instances: TestInstance[];
  let client: TestClient;
  let hand: Client;
  let tracked: TrackedTokens;
  const judges: Judge[] = [];
  /** The token of the last refresh. */
  let lastIssued: Tracked;
  let turn = 0;

  beforeAll(async () => {
    hand = new Client({ connectionString: service.database.url });
    await hand.connect();
    // Behind a pooler in transaction mode, notifications do not arrive and the connection never counts as listening.
    const hearing = jest.spyOn(
      Listener.prototype as unknown as { proveNotificationsArrive(): Promise<void> },
      'proveNotificationsArrive',
    );
    hearing.mockRejectedValue(new Error('notifications do not arrive'));
    const pooled = await startInstance(service.database, UNLIMITED);
    await until('it has tried to listen', () => hearing.mock.calls.length > 0);
    hearing.mockRestore();
    pooledAway(pooled);
    instances = [...service.instances, pooled];
    judges.push(...instances.map(judgeOf));
    client = await service.make.client();
    tracked = new TrackedTokens(judges);
  });
  afterAll(async () => {
    await tracked.stop();
    await hand.end();
    for (const { app } of instances.slice(2)) await app.close();
    await service.stop();
  });

  /** Keeps an instance from restoring its listening connection. */
  function pooledAway({ app }: TestInstance): void {
    const listener = app.get(Listener) as unknown as { proveNotificationsArrive(): Promise<void> };
    listener.proveNotificationsArrive = () => Promise.reject(new Error('notifications do not arrive'));
  }

  /** Returns the instances in turn. */
  const next = (): TestInstance => instances[turn++ % instances.length]!;

  const judgeOf = ({ app }: TestInstance): Judge => ({
    accepts: async (token) => (await app.get(AccessTokensService).find(token)) !== undefined,
    reason: async (token) =>
      (await app.get(AccessTokensService).countRefusal(token, { ip: '127.0.0.1' }, false)).reason,
  });

  async function issueForClient(): Promise<void> {
    const issued = await next().app.get(AccessTokensService).issueForClient(client.id, PARTNER_SCOPES);
    tracked.add(issued!.accessToken, client.id);
  }

  async function newFamily(): Promise<Family> {
    const { id: userId } = await service.make.user({ password: undefined });
    const code = await consentedCode(next(), client.id, userId);
    const pair = await exchangeCode(next(), client.id, code);
    tracked.add(pair.accessToken, client.id, userId);
    return { client, userId, refreshToken: pair.refreshToken! };
  }

  async function refresh(family: Family): Promise<void> {
    const pair = await refreshTokens(next(), client.id, family.refreshToken);
    family.refreshToken = pair.refreshToken!;
    lastIssued = tracked.add(pair.accessToken, client.id, family.userId);
  }

  const ofUser = (userId: string) => (each: Tracked) => each.userId === userId;

  /** Ends tokens in every possible way, each on one instance, with tokens issued before and after on the others. */
  async function endingsOfAllKinds(): Promise<void> {
    for (let n = 0; n < 4; n++) await issueForClient();
    const families: Family[] = [];
    for (let n = 0; n < 5; n++) families.push(await newFamily());
    for (const family of families) await refresh(family);
    const [one, two, three, four, five] = families as [Family, Family, Family, Family, Family];
    const single = lastIssued;
    await tracked.end(
      (each) => each === single,
      () => next().app.get(TokenRevocationService).revoke(single.token, client.id, SERVICE_ACTOR),
    );
    await tracked.end(ofUser(one.userId), () =>
      next().app.get(TokenRevocationService).revoke(one.refreshToken, client.id, SERVICE_ACTOR),
    );
    await tracked.end(ofUser(two.userId), () =>
      next().app.get(ConsentsService).revoke(client.id, two.userId, SERVICE_ACTOR),
    );
    await next().app.get(ConsentApprovals).record(client.id, two.userId, PARTNER_SCOPES, null, SERVICE_ACTOR);
    const users = next().app.get(UsersService);
    await tracked.end(ofUser(three.userId), () =>
      users.update(three.userId, { enabled: false }, SERVICE_ACTOR),
    );
    await users.update(three.userId, { enabled: true }, SERVICE_ACTOR);
    await refresh(four);
    await refresh(five);
    await openTransaction(four);
    await issueForClient();
    await refresh(five);
  }

  /** A change in a long transaction: tokens issued in the meantime do not see it, and yet end with its commit. */
  async function openTransaction(family: Family): Promise<void> {
    await hand.query('BEGIN');
    await hand.query('UPDATE consents SET revoked_at = now() WHERE user_id = $1', [family.userId]);
    for (let n = 0; n < 3; n++) {
      await refresh(family);
      await issueForClient();
      await heardEverywhere();
    }
    await tracked.end(ofUser(family.userId), () => hand.query('COMMIT'));
  }

  async function endEverythingOfTheClient(): Promise<void> {
    const clients = next().app.get(ClientsService);
    await tracked.end(
      ({ clientId }) => clientId === client.id,
      () => clients.update(client.id, { enabled: false }, SERVICE_ACTOR),
    );
    await clients.update(client.id, { enabled: true }, SERVICE_ACTOR);
    await heardEverywhere();
    await issueForClient();
    await tracked.end(
      ({ clientId }) => clientId === client.id,
      () => next().app.get(ClientsService).revokeTokens(client.id, SERVICE_ACTOR),
    );
    await heardEverywhere();
    await issueForClient();
    const owners = next().app.get(UsersService);
    await tracked.end(
      ({ clientId, userId }) => clientId === client.id && userId === undefined,
      () => owners.update(client.ownerId, { enabled: false }, SERVICE_ACTOR),
    );
    await owners.update(client.ownerId, { enabled: true }, SERVICE_ACTOR);
    await heardEverywhere();
    await issueForClient();
  }

  it('are refused everywhere soon after their end, and not before', async () => {
    await endingsOfAllKinds();
    await endEverythingOfTheClient();
    await tracked.expectAllRight();
  });

  it('are judged correctly while listening connections are cut', async () => {
    await whileCut(service.database.url, async () => {
      await endingsOfAllKinds();
      await endEverythingOfTheClient();
    });
    await tracked.expectAllRight();
  });

  it('are judged correctly while listening connections are frozen', async () => {
    await whileFrozen(service.database.url, service.instances.length, async () => {
      await endingsOfAllKinds();
      await endEverythingOfTheClient();
    });
    await tracked.expectAllRight();
  });

  it('are judged correctly by an instance that starts in the middle', async () => {
    const [family] = [await newFamily()];
    await hand.query('BEGIN');
    await hand.query('UPDATE consents SET revoked_at = now() WHERE user_id = $1', [family.userId]);
    await refresh(family);
    instances.push(await startInstance(service.database, UNLIMITED));
    judges.push(judgeOf(instances.at(-1)!));
    await refresh(family);
    await tracked.end(ofUser(family.userId), () => hand.query('COMMIT'));
    await until('it has read the changes', () => instances.at(-1)!.app.get(AccessChanges).isTrusted);
    await endingsOfAllKinds();
    await endEverythingOfTheClient();
    await tracked.expectAllRight();
  });

  it('are judged correctly when the key that signed them is rotated or revoked', async () => {
    const keys = next().app.get(TokenKeysService);
    await issueForClient();
    const family = await newFamily();
    const { id: old } = await keys.signing();
    const signedByOld = new Set(tracked.live);
    await keys.rotate();
    // An instance that has not read the new key yet signs with the old one.
    for (const { app } of instances) await app.get(TokenKeysService).refresh();
    for (let n = 0; n < instances.length * 2; n++) await issueForClient();
    await refresh(family);
    await tracked.expectAllRight();
    await tracked.end(
      (each) => signedByOld.has(each),
      () => keys.revoke(old),
    );
    await endingsOfAllKinds();
    await tracked.expectAllRight();
  });

  it('are judged correctly after more changes than an instance can remember', async () => {
    // Of the 200,000 that it remembers, many-changes.spec.ts has one more.
    for (const { app } of instances) Object.assign(app.get(AccessChanges)['window'], { most: 1000 });
    await endingsOfAllKinds();
    await hand.query(
      `INSERT INTO access_changes (ids)
       SELECT ARRAY(SELECT 'filler ' || n || ' ' || m FROM generate_series(1, 100) m) FROM generate_series(1, 11) n`,
    );
    await tracked.expectAllRight();
    await endingsOfAllKinds();
    await endEverythingOfTheClient();
    await tracked.expectAllRight();
    expect(tracked.looks).toBeGreaterThan(tracked.count);
  });
});
