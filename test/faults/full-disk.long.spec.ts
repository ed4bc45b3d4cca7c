import { spawnSync } from 'node:child_process';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { type Answer, Http, until } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import { whatIsWrongWith503 } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { freePort } from '../support/free-port.js';

// Enough room for a new cluster and some work.
const DISK = '200m';
const CHUNK = Buffer.alloc(1024 * 1024);

const mountPoint = path.join(tmpdir(), `charging-mount-${process.pid}`);
const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** Why this user cannot mount a disk; undefined if it can. Leaves nothing behind. */
function lackingMount(): string | undefined {
  spawnSync('mkdir', ['-p', mountPoint]);
  const can = run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountPoint);
  if (can) run('umount', mountPoint);
  spawnSync('rmdir', [mountPoint]);
  return can ? undefined : 'this user may not mount a small disk (on Linux root may)';
}

describeUnless(
  lackingMount(),
  'a demonstration on a full disk',
  () => {
    let disk: string;
    let dataDir: string;
    let service: SpawnedService;
    let http: Http;
    let basic: { id: string; secret: string };
    let port: number;

    beforeAll(async () => {
      disk = await mkdtemp(path.join(tmpdir(), 'charging-full-disk-'));
      expect(run('mount', '-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', disk)).toBe(true);
      // When run as root, PostgreSQL switches to another user, who needs access to the folder.
      await chmod(disk, 0o755);
      dataDir = path.join(disk, 'data');
      await mkdir(dataDir);
      port = await freePort();
      http = new Http(`http://127.0.0.1:${port}`);
      service = await start().ready();
      const [id, secret] = [/client_id +(\S+)/, /client_secret +(\S+)/].map(
        (what) => what.exec(service.printed)![1]!,
      );
      basic = { id: id!, secret: secret! };
    });
    afterAll(async () => {
      await makeRoom();
      await service?.stop();
      await SpawnedService.killAll();
      run('umount', '-l', disk);
      await rm(disk, { recursive: true, force: true });
    });

    const start = () =>
      new SpawnedService({
        DATA_DIR: dataDir,
        PORT: String(port),
        RATE_LIMIT_PER_HOUR: '1000000000',
        OAUTH_RATE_LIMIT_PER_MINUTE: '1000000000',
      });
    const filler = () => path.join(disk, 'filler');
    const makeRoom = () => rm(filler(), { force: true });
    /** Fills the disk to the last block. */
    async function fill(): Promise<void> {
      for (const size of [CHUNK.length, 4096]) {
        while (
          await appendFile(filler(), CHUNK.subarray(0, size)).then(
            () => true,
            () => false,
          )
        );
      }
    }
    const token = () => http.token({ grant_type: 'client_credentials' }, basic);
    const bearerRequest = (bearer: string) => http.get('/v2/users', { bearer });
    const judge = (answer: Answer) =>
      answer.status === 200 ? undefined : (whatIsWrongWith503(answer) ?? undefined);
    /** Opens a connection to the embedded database, with the details from the data folder. */
    async function connect(): Promise<Client> {
      const password = (await readFile(path.join(dataDir, 'postgres-password'), 'utf8')).trim();
      const pid = await readFile(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8');
      const client = new Client({
        host: '127.0.0.1',
        port: Number(pid.split('\n')[3]),
        user: 'postgres',
        password,
        database: 'charging_data',
      });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    }

    it('refuses writes with 503, still serves reads, and recovers on its own once there is room', async () => {
      const bearer = (await token()).json.access_token as string;
      const link = () => http.get('/webhook_portal', { bearer });
      await fill();
      let refused = 0;
      for (let n = 0; n < 3_000 && refused < 5; n++) {
        const answer = await link();
        expect([answer.status, judge(answer)]).toEqual([answer.status, undefined]);
        if (answer.status === 503) refused++;
        const read = await bearerRequest(bearer);
        expect([read.status, judge(read)]).toEqual([200, undefined]);
        expect((await token()).status).toBe(200);
      }
      expect(refused).toBe(5);
      await makeRoom();
      await until('it is served again', async () => (await link()).status === 200);
    });

    it('survives the crash of its PostgreSQL, which has no room for its WAL, and restarts it once there is room', async () => {
      const before = await token();
      expect(before.status).toBe(200);
      await fill();
      const client = await connect();
      const writes = async () => {
        for (;;)
          await client.query("SELECT pg_logical_emit_message(false, 'filler', repeat('x', 1000000), true)");
      };
      await expect(writes()).rejects.toThrow();
      await until('it is said', () => service.printed.includes('PostgreSQL stopped unexpectedly'));
      const answer = await token();
      expect([answer.status, whatIsWrongWith503(answer)]).toEqual([503, undefined]);
      expect((await http.get('/health/live')).status).toBe(200);
      expect((await http.get('/health/ready')).status).toBe(503);
      await makeRoom();
      await until('it is served again', async () => (await token()).status === 200);
      expect((await bearerRequest(before.json.access_token as string)).status).toBe(200);
      expect(service.printed).toContain('PostgreSQL is running again');
      expect(service.printed).not.toMatch(/"level":"(error|fatal)"/);
    });

    it('does not start, and says why', async () => {
      expect(await service.stop()).toBe(0);
      await fill();
      const next = start();
      expect(await next.exit()).toBe(1);
      expect(next.printed).toMatch(/disk .* is full|No space left on device/);
      await makeRoom();
      service = await start().ready();
      expect((await token()).status).toBe(200);
    });
  },
  { optional: true },
);
