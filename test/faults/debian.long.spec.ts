import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { chown, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../support/free-port.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { SystemdUnit } from '../support/systemd-unit.js';

const GUIDE = readFileSync('docs/deployment.md', 'utf8');
const PART = GUIDE.slice(GUIDE.indexOf('\n## On Debian\n'), GUIDE.indexOf('\n## Migrations\n'));
const [INSTALL, TOKEN, OPERATOR] = [...PART.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

interface Ended {
  code: number;
  out: string;
  err: string;
}

describeUnless(lackingPostgres, 'the way to a first token on Debian, as the guide has it,', () => {
  let postgres: InstalledPostgres;
  let folder: string;
  let port: number;
  let child: ChildProcess | undefined;
  beforeAll(async () => {
    postgres = await InstalledPostgres.start();
    folder = await mkdtemp(path.join(tmpdir(), 'charging-debian-'));
    port = await freePort();
    // A checkout that is built: what npm ci makes is here already.
    const checkout = path.join(folder, 'charging-data-service');
    for (const name of ['opt', 'usr/local', 'etc/systemd/system', 'charging-data-service', 'nodejs.org'])
      await mkdir(path.join(folder, name), { recursive: true });
    for (const name of ['deploy', 'dist', 'node_modules', 'package.json'])
      await symlink(path.resolve(name), path.join(checkout, name));
  });
  afterAll(async () => {
    child?.kill('SIGKILL');
    await postgres?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  /** The text with the folders, the port and the programs of this machine. */
  const here = (text: string) =>
    text
      .replaceAll(/\/(opt\/charging-data|etc\/(?:charging-data|systemd)|usr\/local)\b/g, `${folder}/$1`)
      .replaceAll('localhost:3000', `localhost:${port}`)
      .replace(/^BASE_URL=.*$/m, `$&\nPORT=${port}`);

  const run = (program: string, args: string[], env: Record<string, string> = {}, cwd = folder) =>
    new Promise<Ended>((resolve) => {
      execFile(program, args, { cwd, env: { PATH: postgres.path, ...env } }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });

  /** The installed unit, with its secrets where systemd would put them. */
  const unitOf = async (name: string) => {
    const file = path.join(folder, 'etc/systemd/system', name);
    await writeFile(file, here(readFileSync(file, 'utf8')));
    const unit = new SystemdUnit(file);
    const credentials = await mkdtemp(path.join(folder, 'credentials-'));
    for (const [id, from] of Object.entries(unit.credentials)) {
      const text = readFileSync(from, 'utf8').replace('127.0.0.1:5432', `127.0.0.1:${postgres.port}`);
      await writeFile(path.join(credentials, id), text);
    }
    const [program, ...args] = unit.all('ExecStart')[0]!.split(' ');
    const [cwd] = unit.all('WorkingDirectory');
    expect(program).toBe('node');
    return { unit, env: unit.environment(credentials), args, cwd: cwd! };
  };

  /** What nodejs.org has, as curl brings it: archives for several machines, and their digests. */
  const publish = async () => {
    const site = path.join(folder, 'nodejs.org');
    const digests: string[] = [];
    for (const machine of ['linux-arm64', 'linux-x64', 'darwin-x64']) {
      const name = `node-v24.99.0-${machine}`;
      const bin = path.join(site, name, 'bin');
      await mkdir(bin, { recursive: true });
      await writeFile(path.join(site, name, 'README.md'), '');
      const isThisMachine = machine === `linux-${process.arch}`;
      await symlink(isThisMachine ? process.execPath : '/bin/false', path.join(bin, 'node'));
      for (const end of ['xz', 'gz']) {
        const archive = path.join(site, `${name}.tar.${end}`);
        expect((await run('tar', ['caf', archive, '-C', site, name])).err).toBe('');
        digests.push(
          `${createHash('sha256').update(readFileSync(archive)).digest('hex')}  ${name}.tar.${end}\n`,
        );
      }
    }
    await writeFile(path.join(site, 'SHASUMS256.txt'), digests.join(''));
    return site;
  };
  /** What this machine has already or cannot do: the Internet, packages, the build, a running systemd, another user. */
  const programs = (superuser: URL, site: string) => `
      curl() { [ "$1" = -fsSO ] && cp "${site}/\${2#https://nodejs.org/dist/latest-v24.x/}" .; }
      apt-get() { :; }; npm() { echo "npm $*"; }; systemctl() { echo "systemctl $*"; }
      runuser() { shift 3; PGHOST=${superuser.hostname} PGPORT=${superuser.port} PGPASSWORD=${superuser.password} POSTGRES_USER=${superuser.username} "$@"; }
      `;

  it('is refused with a Node.js that is not what nodejs.org says', async () => {
    const site = await publish();
    for (const end of ['xz', 'gz'])
      await writeFile(
        path.join(site, `node-v24.99.0-linux-${process.arch}.tar.${end}`),
        'changed on its way',
      );
    const superuser = new URL(postgres.url('postgres'));
    const { code, out, err } = await run('bash', [
      '--norc',
      '-c',
      programs(superuser, site) + here(INSTALL!),
    ]);
    expect([code, out, err]).toEqual([
      1,
      expect.stringContaining('FAILED'),
      expect.stringContaining('did NOT match'),
    ]);
    expect(await readdir(path.join(folder, 'usr/local'))).toEqual([]);
    await rm(site, { recursive: true });
    await mkdir(site);
  });

  it('installs, with two roles in the database and secrets that only root reads', async () => {
    const superuser = new URL(postgres.url('postgres'));
    const site = await publish();
    const { code, out, err } = await run('bash', [
      '--norc',
      '-c',
      programs(superuser, site) + here(INSTALL!),
    ]);
    expect([code, err]).toEqual([0, '']);
    // That of this machine, where the units and npm find it.
    expect(await realpath(path.join(folder, 'usr/local/bin/node'))).toBe(await realpath(process.execPath));
    expect(await readdir(path.join(folder, 'usr/local'))).toEqual(['bin']);
    expect(out).toContain('npm ci --engine-strict\nnpm run production-only\n');
    expect(out).toContain('systemctl daemon-reload\nsystemctl enable --now charging-data\n');
    expect((await readdir(path.join(folder, 'etc/systemd/system'))).sort()).toEqual([
      'charging-data-migrate.service',
      'charging-data.service',
    ]);
  });

  it('migrates as the owner, starts as the service, is ready, and gives a token', async () => {
    const migration = await unitOf('charging-data-migrate.service');
    const migrated = await run(process.execPath, migration.args, migration.env, migration.cwd);
    expect([migrated.code, migrated.err]).toEqual([0, '']);

    const { unit, args, env, cwd } = await unitOf('charging-data.service');
    child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' });
    const [ready, ...asks] = unit.all('ExecStartPost')[0]!.replace('${PORT}', env.PORT!).split(' ');
    expect(await run(ready!, asks)).toEqual({ code: 0, out: '', err: '' });

    const { out } = await run('bash', ['--norc', '-euc', here(TOKEN!)]);
    expect(JSON.parse(out)).toMatchObject({ token_type: 'Bearer', expires_in: 36_000 });
  });

  it('runs a command of the operator, with the settings of the service', async () => {
    const folderOfUrl = path.join(folder, 'etc/charging-data/secrets/service_database_url');
    const text = readFileSync(folderOfUrl, 'utf8').replace('127.0.0.1:5432', `127.0.0.1:${postgres.port}`);
    await rm(folderOfUrl);
    await writeFile(folderOfUrl, text);
    const operate = () => run('bash', ['--norc', '-euc', here(OPERATOR!)]);
    const environment = path.join(folder, 'etc/charging-data/environment');
    const settings = readFileSync(environment, 'utf8');
    await writeFile(environment, `${settings}RETENTION_DAYS=none\n`);
    const refused = await operate();
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('RETENTION_DAYS')]);
    await writeFile(environment, settings);
    const { code, out, err } = await operate();
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ keys: [{ state: 'signs' }] });
  });

  it('stops in order on SIGTERM', async () => {
    const over = once(child!, 'exit');
    child!.kill('SIGTERM');
    expect(await over).toEqual([0, null]);
  });

  it('has a database that the check of a backup restores, but not if the dump is missing, damaged or old', async () => {
    // As the user of PostgreSQL, as in its image: initdb refuses root.
    const { uid, gid } = postgres.runAs ?? {};
    const dumps = path.join(postgres.folder, 'dumps');
    const work = path.join(postgres.folder, 'work');
    const script = readFileSync('deploy/helm/charging-data/files/check-backup.sh', 'utf8');
    const check = async (env: Record<string, string> = {}) => {
      await mkdir(work);
      if (uid !== undefined) await chown(work, uid, gid!);
      const ended = await new Promise<Ended>((resolve) => {
        const options = {
          cwd: '/',
          env: { PATH: process.env.PATH, ...env },
          ...(uid === undefined ? {} : { uid, gid }),
        };
        execFile('bash', ['-c', script, 'check-backup.sh', dumps, work], options, (error, out, err) =>
          resolve({ code: error ? Number(error.code) : 0, out, err }),
        );
      });
      await rm(work, { recursive: true });
      return ended;
    };
    await mkdir(dumps);
    if (uid !== undefined) await chown(dumps, uid, gid!);
    expect(await check()).toMatchObject({ code: 1, err: expect.stringContaining('There is no *.dump') });

    const dump = path.join(dumps, 'charging.dump');
    await postgres.run(
      'pg_dump',
      '--format=custom',
      `--file=${dump}`,
      `--dbname=${postgres.url('charging_data')}`,
    );
    expect(await check()).toMatchObject({ code: 0, out: expect.stringMatching(/^Restored in \d+ s/m) });
    expect(await check({ MAX_AGE_HOURS: '0' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('older than 0 hours'),
    });

    // A part of the database is no backup of it.
    await postgres.run(
      'pg_dump',
      '--format=custom',
      '--table=migrations',
      `--file=${path.join(dumps, 'part.dump')}`,
      `--dbname=${postgres.url('charging_data')}`,
    );
    const part = await check();
    expect(part).toMatchObject({ code: 1, err: expect.stringContaining('"users" does not exist') });
    expect(part.out).not.toContain(' users, ');

    // The newest one counts.
    await writeFile(path.join(dumps, 'damaged.dump'), readFileSync(dump).subarray(0, 20_000));
    const damaged = await check();
    expect([damaged.code, damaged.out]).toEqual([1, expect.not.stringContaining('Restored in')]);
  });
});
