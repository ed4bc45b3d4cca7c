import { AccessChanges, TRUSTED_MS } from '#platform/database/changes/access-changes.service.js';
import { limitSilence } from '../support/patience.js';
import { Factory, startInstance, until } from '../support/spec.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { whatIsWrongWith503 } from '../support/load.js';
import { OwnPostgres } from '../support/own-postgres.js';

// The time that a request waits for a connection.
const CONNECT_MS = 3_000;

describe('a PostgreSQL that stops responding', () => {
  it('delays requests no longer than the limits, and is used again when it responds', async () => {
    limitSilence();
    const postgres = await OwnPostgres.start();
    const service = await startInstance(postgres, { DATABASE_POOL_SIZE: '4' });
    const client = await new Factory(service).client();
    const token = () =>
      service.http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: client.secret });
    expect((await token()).status).toBe(200);
    const changes = service.app.get(AccessChanges);
    await until('what it knows is proven', () => changes.wasTrusted(TRUSTED_MS));
    const goOn = await postgres.freeze();
    const limit = HeldTimers.hold(CONNECT_MS);
    try {
      // Until then it issues tokens from what it read right before.
      await until('what it knows is out of date', () => !changes.wasTrusted(TRUSTED_MS));
      let answered = 0;
      const all = Array.from({ length: 8 }, () => token().finally(() => answered++));
      // Requests that hold a connection give up on their own; the others wait for a new connection, which nobody accepts.
      await until('the connections were given up', () => answered >= 1);
      while (answered < all.length) {
        limit.letPass();
        await turns();
      }
      for (const answer of await Promise.all(all)) expect(whatIsWrongWith503(answer)).toBeUndefined();
      // The lost connections are not reused: the request waits for a new one, but no longer than the limit.
      let isRefused = false;
      const second = token().finally(() => (isRefused = true));
      await until('it waits for a connection', () => limit.count > 0);
      expect(isRefused).toBe(false);
      // Work in the background waits for connections too, with a timer of its own.
      await until('the limit is enough', () => {
        limit.letPass();
        return isRefused;
      });
      expect(whatIsWrongWith503(await second)).toBeUndefined();
      limit.release();
      expect((await service.http.get('/health/ready')).status).toBe(503);
      expect((await service.http.get('/health/live')).status).toBe(200);
    } finally {
      limit.release();
      goOn();
    }
    await until('it is served again', async () => (await token()).status === 200);
    await service.app.close();
    await postgres.drop();
  });
});
