import { ReadinessService } from '#entrypoints/operations/readiness.service.js';
import { atEndOfFile } from '../support/between-files.js';
import { type Answer, startInstance, until, useService } from '../support/spec.js';
import { asAdmin, nameOf } from '../support/test-database.js';

describe('Readiness', () => {
  const service = useService();

  const ready = () => service.http.get('/health/ready');
  /** Its answer once it is ready: a check of a busy database may take too long once. */
  const onceReady = async (): Promise<Answer> => {
    let answer: Answer;
    await until('it is ready', async () => (answer = await ready()).status === 200);
    return answer!;
  };

  it('is refused with a problem while a migration of this build is missing, and given once it has run', async () => {
    const [last] = await service.database.query<{ name: string }>(
      'DELETE FROM migrations WHERE id = (SELECT max(id) FROM migrations) RETURNING *',
    );
    const refused = await ready();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(refused.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(refused.text).not.toContain(last!.name);
    await service.database.query(
      'INSERT INTO migrations (id, timestamp, name, digest) VALUES ($1, $2, $3, $4)',
      [...Object.values(last!)],
    );
    await onceReady();
  });

  it('is refused while the schema is not what the migrations make, names what differs, and is given once that is mended', async () => {
    await service.database.query('ALTER TABLE grants RENAME COLUMN rotated_generations TO rotated_before');
    await service.database.query('DROP INDEX consents_user_id_idx');
    await service.database.query('CREATE INDEX of_an_administrator ON consents (granted_at)');
    const { app, http, log } = await startInstance(service.database, {});
    atEndOfFile(() => app.close());
    const words =
      'the schema of the database is not that of this build: column grants.rotated_generations is missing, ' +
      'index consents.consents_user_id_idx is missing, column grants.rotated_before does not belong there';
    // A check of a busy database may take too long once, and says that instead.
    let named = 0;
    await until('it is named twice', async () => {
      const { status, json } = await http.get('/health/ready');
      expect(status).toBe(503);
      if (json.detail === `The service is not ready: ${words}.`) named++;
      return named === 2;
    });
    expect(log.filter((line) => line.includes(`"msg":"${words}`))).toHaveLength(1);
    await service.database.query('ALTER TABLE grants RENAME COLUMN rotated_before TO rotated_generations');
    await service.database.query('CREATE INDEX consents_user_id_idx ON consents (user_id, client_id)');
    await until('it is ready', async () => (await http.get('/health/ready')).status === 200);
  });

  it('is given even if a newer build has migrated further and no longer needs the table', async () => {
    await service.database.query("INSERT INTO migrations (timestamp, name) VALUES (9e15, 'Later9')");
    expect((await onceReady()).json).toMatchObject({
      status: 'ok',
      info: { process: { status: 'up' }, database: { status: 'up' }, migrations: { status: 'up' } },
    });
    await service.database.query('ALTER TABLE migrations RENAME TO migrations_away');
    await onceReady();
  });

  it('is refused, with the reason, while an administrator has stopped all writes', async () => {
    const stopWrites = (value: string) =>
      asAdmin(async (admin) => {
        const name = nameOf(service.database);
        await admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
        await admin.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = 'charging_service'",
          [name],
        );
      });
    await stopWrites('on');
    try {
      await until('it says so', async () => (await ready()).text.includes('default_transaction_read_only'));
    } finally {
      await stopWrites('off');
    }
    await onceReady();
  });

  it('ends at the start of a shutdown, while the process is still running', async () => {
    service.app.get(ReadinessService).onModuleDestroy();
    const { status, json } = await ready();
    expect([status, json.detail]).toEqual([503, 'The service is not ready: the instance is shutting down.']);
    expect((await service.http.get('/health/live')).json).toEqual({ status: 'ok' });
  });

  it('is refused during a shutdown with one line in the log for each probe, without a stack', async () => {
    service.app.get(ReadinessService).onModuleDestroy();
    const told = () => service.log.filter((line) => line.includes('shutting down'));
    const before = told().length;
    for (let n = 0; n < 3; n++) expect((await ready()).status).toBe(503);
    expect(told()).toHaveLength(before + 3);
    expect(told().join('')).not.toContain('stack');
  });
});
