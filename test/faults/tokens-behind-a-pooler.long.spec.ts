import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { consentedCode } from '../support/codes.js';
import { Factory, type TestClient, type Tokens } from '../support/factory.js';
import { describeUnless } from '../support/left-out.js';
import { whileCut, whileFrozen } from '../support/listening-connections.js';
import { UNLIMITED } from '../support/load.js';
import { exchange, revoke, startInstance, type TestInstance, until } from '../support/spec.js';
import { lackingPgBouncer, PgBouncer } from '../support/pgbouncer.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { judgeAt, TokenTraffic } from '../support/token-traffic.js';
import { TrackedTokens } from '../support/tracked-tokens.js';

describeUnless(lackingPgBouncer, 'tokens at an instance behind a pooler, and at one without it,', () => {
  let database: TestDatabase;
  let pooler: PgBouncer;
  let direct: TestInstance;
  let behind: TestInstance;
  let make: Factory;
  let client: TestClient;

  async function start(mode: 'transaction' | 'session'): Promise<void> {
    database = await createTestDatabase();
    pooler = await PgBouncer.start(database.serviceUrl!, mode);
    direct = await startInstance(database, UNLIMITED);
    behind = await startInstance({ ...database, serviceUrl: pooler.url }, UNLIMITED);
    make = new Factory(direct);
    client = await make.client();
  }
  async function stop(): Promise<void> {
    await behind?.app.close();
    await direct?.app.close();
    await pooler?.stop();
    await database?.drop();
  }

  const newCode = async () => {
    const { id: userId } = await make.user({ password: undefined });
    return { code: await consentedCode(direct, client.id, userId), userId };
  };

  describe('in transaction mode, in which the instance is not ready and may fail,', () => {
    beforeAll(() => start('transaction'));
    afterAll(stop);

    it('are refused as soon as they have ended, and not before', async () => {
      const { http, app } = behind;
      const look = async (bearer: string) => (await http.get('/v2/users', { bearer })).status;
      const live: number[] = [];
      const ended: number[] = [];
      for (let n = 0; n < 10; n++) {
        const { code } = await newCode();
        const { access_token } = (await exchange(direct.http, client, code)).json as Tokens;
        for (const token of [access_token, await make.clientToken(client)]) {
          for (let time = 0; time < 5; time++) live.push(await look(token));
          expect((await revoke(direct.http, client, token)).status).toBe(200);
          // The instance relies on nothing that it has cached, so no change has to reach it first.
          for (let time = 0; time < 5; time++) ended.push(await look(token));
        }
      }
      expect(ended).not.toContain(200);
      expect(live).not.toContain(401);
      expect([live.includes(200), ended.includes(401)]).toEqual([true, true]);
      expect(app.get(AccessChanges).isTrusted).toBe(false);
    });
  });

  describe('in session mode', () => {
    let tracked: TrackedTokens;
    let traffic: TokenTraffic;

    beforeAll(async () => {
      await start('session');
      const instances = [behind.http, direct.http];
      tracked = new TrackedTokens(instances.map(judgeAt));
      traffic = new TokenTraffic(client, await make.operatorClient(), instances, tracked, newCode);
      await until('it listens', () => behind.app.get(AccessChanges).isTrusted);
    });
    afterAll(async () => {
      await tracked?.stop();
      await stop();
    });

    it('end everywhere in time, and not before', async () => {
      const endUsersTokens = await traffic.usersTokens();
      await tracked.expectAllRight();
      await endUsersTokens();
      await traffic.endTokensOfClient();
      await tracked.expectAllRight();
    });

    it('end in time while listening connections are cut', async () => {
      const endUsersTokens = await traffic.usersTokens();
      await whileCut(database.url, async () => {
        await endUsersTokens();
        await traffic.endTokensOfClient();
      });
      await tracked.expectAllRight();
    });

    it('end in time while listening connections are frozen', async () => {
      const endUsersTokens = await traffic.usersTokens();
      await whileFrozen(database.url, 2, async () => {
        await endUsersTokens();
        await traffic.endTokensOfClient();
      });
      await tracked.expectAllRight();
    });
  });
});
