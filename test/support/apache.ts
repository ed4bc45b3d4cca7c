import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FrontServer } from './front-server.js';

const MODULES = '/usr/lib/apache2/modules';
// Debian and Ubuntu do not put it on the PATH.
const PROGRAM = ['apache2', '/usr/sbin/apache2'].find((name) => spawnSync(name, ['-v']).status === 0);

type TokenModule = 'auth_openidc' | 'oauth2';

const lacking = (module: TokenModule, named: string): string | undefined =>
  PROGRAM && existsSync(`${MODULES}/mod_${module}.so`)
    ? undefined
    : `there is no apache2 with mod_${module} (apt-get install apache2-bin ${named})`;

/** Why a module cannot be tested on this machine; undefined if it can. */
export const lackingApache = lacking('auth_openidc', 'libapache2-mod-auth-openidc');
export const lackingModOAuth2 = lacking('oauth2', 'libapache2-mod-oauth2');

/** An Apache that serves one file under each of some configurations, each at a port of its own. */
export class Apache extends FrontServer {
  /** `authority`: the certificate that mod_auth_openidc trusts; mod_oauth2 is used without one. */
  static async start(
    sites: Map<number, string>,
    settings: Record<string, string>,
    authority?: string,
  ): Promise<Apache> {
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-apache-'));
    await chmod(folder, 0o755);
    await mkdir(path.join(folder, 'htdocs'));
    await writeFile(path.join(folder, 'htdocs', 'index.html'), 'the data');
    if (authority !== undefined) await writeFile(path.join(folder, 'authority.pem'), authority);
    const tokenModule: TokenModule = authority === undefined ? 'oauth2' : 'auth_openidc';
    const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'dir', tokenModule];
    const hosts = [...sites].map(
      ([port, lines]) =>
        `Listen 127.0.0.1:${port}\n<VirtualHost 127.0.0.1:${port}>\n${lines}\n</VirtualHost>`,
    );
    const configuration = [
      `ServerRoot ${folder}`,
      'ServerName 127.0.0.1',
      `DefaultRuntimeDir ${folder}`,
      `PidFile ${folder}/pid`,
      `ErrorLog ${folder}/error.log`,
      `DocumentRoot ${folder}/htdocs`,
      'DirectoryIndex index.html',
      ...(process.getuid?.() === 0 ? ['User www-data', 'Group www-data'] : []),
      'StartServers 1',
      ...modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
      ...(authority === undefined ? [] : [`OIDCCABundlePath ${folder}/authority.pem`]),
      ...hosts,
    ];
    const file = path.join(folder, 'apache.conf');
    await writeFile(file, configuration.join('\n'));
    const child = spawn(PROGRAM!, ['-f', file, '-DFOREGROUND'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, ...settings },
    });
    let complaint = '';
    child.stderr.on('data', (text: Buffer) => (complaint += text.toString()));
    const [port] = [...sites.keys()];
    const apache = new Apache(child, folder);
    await apache.untilItAnswers(
      `http://127.0.0.1:${port}/`,
      async () => complaint + (await readFile(`${folder}/error.log`, 'utf8').catch(() => '')),
    );
    return apache;
  }
}
