import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeUnless } from '../support/left-out.js';
import { SystemdUnit } from '../support/systemd-unit.js';

const service = new SystemdUnit('deploy/systemd/charging-data.service');
const migration = new SystemdUnit('deploy/systemd/charging-data-migrate.service');

describe('the units of systemd', () => {
  it('start the service as npm start does', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
    // Wherever it is: systemd looks in /usr/local/bin, where nodejs.org puts it, and in /usr/bin, where Debian does.
    expect(service.all('ExecStart')).toEqual([scripts.start.replace(/^exec /, '')]);
    expect(migration.all('ExecStart')).toEqual([
      expect.stringMatching(/^node dist\/src\/operator\.js migrate /),
    ]);
  });

  it('allow both the same, and give each its own secrets', () => {
    const own = ['Description', 'Wants', 'After', 'Type', 'LoadCredential', 'Environment', 'ExecStart'];
    const more = ['EnvironmentFile', 'ExecStartPost', 'Restart', 'RestartSec', 'KillMode', 'WantedBy'];
    const limits = ['TimeoutStartSec', 'TimeoutStopSec', 'LimitNOFILE', 'MemoryMax'];
    expect(migration.except(...own, ...limits)).toEqual(service.except(...own, ...more, ...limits));
    expect(Object.keys(migration.credentials)).toEqual(['owner_database_url']);
    expect(Object.keys(service.credentials)).not.toContain('owner_database_url');
  });

  it('name secrets that deploy/make-secrets.sh makes', () => {
    const made = [
      ...readFileSync('deploy/make-secrets.sh', 'utf8').matchAll(/^ *keep "?(\S+?)"? /gm),
    ].flatMap(([, name]) => ['owner', 'service'].map((role) => name!.replace('${role}', role)));
    for (const unit of [service, migration]) {
      const named = Object.entries(unit.credentials);
      expect(named.map(([id, file]) => [id, file])).toEqual(
        named.map(([id]) => [id, `/etc/charging-data/secrets/${id}`]),
      );
      expect(made).toEqual(expect.arrayContaining(named.map(([id]) => id)));
    }
  });
});

const lacking =
  spawnSync('systemd-analyze', ['--version']).error && 'there is no systemd-analyze on this machine';

describeUnless(lacking, 'the units of systemd, judged by systemd-analyze,', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-units-'));
    for (const { file } of [service, migration]) {
      // The programs of Debian may be elsewhere on this machine.
      const text = readFileSync(file, 'utf8').replace(
        /(?<=^ExecStart\w*=)(node|\/usr\/bin\/curl) /gm,
        `${process.execPath} `,
      );
      await writeFile(path.join(folder, path.basename(file)), text);
    }
  });
  afterAll(() => rm(folder, { recursive: true }));

  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  const files = () => [service, migration].map(({ file }) => path.join(folder, path.basename(file)));

  it('find the node of nodejs.org, and that of Debian', () => {
    const { stdout } = spawnSync('systemd-path', ['search-binaries-default'], { encoding: 'utf8' });
    const folders = stdout.trim().split(':');
    expect(folders.indexOf('/usr/local/bin')).toBeGreaterThan(-1);
    expect(folders.indexOf('/usr/bin')).toBeGreaterThan(folders.indexOf('/usr/local/bin'));
  });

  it('are understood to the last setting', async () => {
    const { status, stderr } = analyze('verify', ...files());
    expect([status, stderr]).toEqual([0, '']);
    const wrong = path.join(folder, 'wrong.service');
    await writeFile(wrong, `${readFileSync(files()[0]!, 'utf8')}\n[Service]\nProtectHomes=yes\n`);
    expect(analyze('verify', wrong).stderr).toContain('ProtectHomes');
  });

  it.each([0, 1])('are exposed no more than the guide says (%d)', (n) => {
    const [, guide] = /gives them (\d\.\d)/.exec(readFileSync('docs/deployment.md', 'utf8'))!;
    const { status, stdout } = analyze(
      'security',
      '--offline=true',
      `--threshold=${Number(guide) * 10}`,
      files()[n]!,
    );
    expect([status, stdout]).toEqual([0, expect.stringContaining('OK')]);
  });
});
