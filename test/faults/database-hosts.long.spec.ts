import { chmod, chown, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { newConnection } from '#platform/database/connections/connections.js';
import { certificateFor, newAuthority } from '../support/certificates.js';
import { Factory, freePort, Http, startInstance, TEST_ENCRYPTION_KEY, until } from '../support/spec.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { SpawnedService } from '../support/spawned-service.js';

describeUnless(lackingPostgres, 'a DATABASE_URL', () => {
  let postgres: InstalledPostgres;
  let sockets: string;

  beforeAll(async () => {
    postgres = await InstalledPostgres.start();
    sockets = path.join(postgres.folder, 'data');
    await postgres.query('postgres', 'CREATE DATABASE live');
  });
  afterEach(() => SpawnedService.killAll());
  afterAll(() => postgres?.remove());

  const settings = (databaseUrl: string, port: number) => ({
    NODE_ENV: 'production',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    DATABASE_WAIT_SECONDS: '300',
  });
  const start = async (databaseUrl: string) => {
    const port = await freePort();
    const service = new SpawnedService(settings(databaseUrl, port));
    return { service, http: new Http(`http://127.0.0.1:${port}`) };
  };
  const ownFile = async (name: string, text: string): Promise<string> => {
    const file = path.join(postgres.folder, name);
    await writeFile(file, text);
    const { uid, gid } = await stat(sockets);
    await chown(file, uid, gid);
    await chmod(file, 0o600);
    return file;
  };

  it('with a unix socket serves requests, with the socket as a parameter or as the host', async () => {
    const port = await freePort();
    await postgres.stop('data');
    await postgres.serve('data', port, { listen_addresses: '', unix_socket_directories: sockets });
    const { username, password } = new URL(postgres.url('live'));
    for (const url of [
      `postgres://${username}:${password}@/live?host=${sockets}&port=${port}`,
      `postgres://${username}:${password}@${encodeURIComponent(sockets)}:${port}/live`,
    ]) {
      const { service, http } = await start(url);
      await service.ready();
      expect((await http.get('/health/ready')).status).toBe(200);
      expect(await service.stop()).toBe(0);
    }
  });

  it('with sslmode=verify-full accepts only a certificate with the right name and from our own CA', async () => {
    const [ours, another] = await Promise.all([newAuthority('ours'), newAuthority('another')]);
    const certificate = await certificateFor('localhost', ours);
    const port = await freePort();
    await postgres.stop('data');
    await postgres.serve('data', port, {
      ssl: 'on',
      ssl_cert_file: await ownFile('server.crt', certificate.cert),
      ssl_key_file: await ownFile('server.key', certificate.private),
    });
    const [ca, otherCa] = [path.join(postgres.folder, 'ca.crt'), path.join(postgres.folder, 'other.crt')];
    await writeFile(ca, ours.cert);
    await writeFile(otherCa, another.cert);
    const url = (host: string, root: string) =>
      `${postgres.url('live', port).replace('127.0.0.1', host)}?sslmode=verify-full&sslrootcert=${root}`;

    const { service, http } = await start(url('localhost', ca));
    await service.ready();
    expect((await http.get('/health/ready')).status).toBe(200);
    // The pool, the listening connection and the connection that migrated.
    const onlooker = newConnection(url('localhost', ca), {});
    await onlooker.connect();
    const { rows } = await onlooker.query<{ ssl: boolean }>(
      `SELECT DISTINCT ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE application_name LIKE 'charging-data-service%'`,
    );
    await onlooker.end();
    expect(rows).toEqual([{ ssl: true }]);
    expect(await service.stop()).toBe(0);

    const refused: [string, RegExp][] = [
      [url('127.0.0.1', ca), /DATABASE_URL: the certificate of the server is for another name/],
      [url('localhost', otherCa), /DATABASE_URL: the certificate of the server is not trusted/],
      [
        `${url('localhost', '')}`.replace('&sslrootcert=', ''),
        /DATABASE_URL: the certificate of the server is not trusted/,
      ],
      [
        url('localhost', '/no/such/file'),
        /DATABASE_URL must name files that can be read: \/no\/such\/file \(ENOENT\)/,
      ],
    ];
    for (const [bad, words] of refused) {
      const { service: other } = await start(bad);
      expect(await other.exit()).toBe(1);
      expect(other.printed).toMatch(words);
    }
  });

  describe('for a primary and a standby', () => {
    let standbyPort: number;
    let both: string;

    beforeAll(async () => {
      await postgres.stop('data');
      await postgres.serve('data', postgres.port, {});
      standbyPort = await freePort();
      const from = `--dbname=${postgres.url('postgres')}`;
      const copy = path.join(postgres.folder, 'standby');
      await postgres.run(
        'pg_basebackup',
        from,
        `--pgdata=${copy}`,
        '--write-recovery-conf',
        '--checkpoint=fast',
        '--no-sync',
      );
      await postgres.serve('standby', standbyPort, {});
      const { host } = new URL(postgres.url('live'));
      both = postgres
        .url('live', standbyPort)
        .replace(`127.0.0.1:${standbyPort}`, `127.0.0.1:${standbyPort},${host}`)
        .concat('?target_session_attrs=read-write');
    });

    it('leaves the service unready if it names only the standby, and the service says why', async () => {
      const instance = await startInstance(
        { url: postgres.url('live', standbyPort), query: async () => [], drop: async () => undefined },
        {},
      );
      try {
        const { status, json } = await instance.http.get('/health/ready');
        expect([status, json.detail]).toEqual([
          503,
          'The service is not ready: the database is a standby that was not promoted, and accepts no writes.',
        ]);
        // A known problem is logged without a stack.
        const told = instance.log.filter((line) => line.includes('not promoted'));
        expect(told).toHaveLength(1);
        expect(told[0]).not.toContain('"stack"');
      } finally {
        await instance.app.close();
      }
    });

    it('with both hosts uses the primary, and after a fail-over the new one, while requests are served', async () => {
      const { service, http } = await start(both);
      await service.ready();
      const maker = await startInstance(
        { url: both, query: async () => [], drop: async () => undefined },
        {},
      );
      const client = await new Factory(maker).client();
      await maker.app.close();
      const token = () =>
        http.token({ grant_type: 'client_credentials' }, { id: client.id, secret: client.secret });
      expect((await token()).status).toBe(200);
      expect(await portsOf()).toEqual([postgres.port]);

      // The standby has everything: what it had not received before the crash would be lost.
      const at = (port: number, sql: string) => rowsAt<{ at: string }>(port, `SELECT ${sql} AS at`);
      const [written] = await at(postgres.port, 'pg_current_wal_flush_lsn()::text');
      await until('the standby has it', async () => {
        const [row] = await at(standbyPort, `(pg_last_wal_replay_lsn() >= '${written!.at}')::text`);
        return row!.at === 'true';
      });
      await postgres.stop('data', 'SIGQUIT');
      await until('it cannot serve', async () => (await token()).status === 503);
      await postgres.run('pg_ctl', 'promote', `--pgdata=${path.join(postgres.folder, 'standby')}`);
      await until('it serves again', async () => (await token()).status === 200);
      await until('it is ready', async () => (await http.get('/health/ready')).status === 200);
      // The listening connection has found the new primary, too.
      const connection = newConnection(both, {});
      await connection.connect();
      const listening = async () =>
        (
          await connection.query<{ n: number }>(
            `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'charging-data-service listener'`,
          )
        ).rows[0]!.n;
      await until('it listens again', async () => (await listening()) > 0);
      await connection.end();
      expect(await service.stop()).toBe(0);
    });

    async function rowsAt<Row extends object>(port: number, sql: string): Promise<Row[]> {
      const connection = newConnection(postgres.url('live', port), {});
      await connection.connect();
      const { rows } = await connection.query<Row>(sql);
      await connection.end();
      return rows;
    }

    /** The ports of the servers that the service is connected to. */
    async function portsOf(): Promise<number[]> {
      const ports: number[] = [];
      for (const port of [postgres.port, standbyPort]) {
        const rows = await rowsAt<{ n: number }>(
          port,
          `SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name IN ('charging-data-service', 'charging-data-service listener')`,
        );
        if (rows[0]!.n > 0) ports.push(port);
      }
      return ports;
    }
  });
});
