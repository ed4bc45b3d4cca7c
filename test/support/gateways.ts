import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from './until.js';

const programOf = (name: string, ...args: string[]): string | undefined =>
  [name, `/usr/sbin/${name}`, `/usr/bin/${name}`].find((each) => spawnSync(each, args).status === 0);

const PROGRAMS = { nginx: programOf('nginx', '-v'), caddy: programOf('caddy', 'version') };
export type GatewayName = keyof typeof PROGRAMS;

/** Why a gateway cannot be tested on this machine; undefined if it can. */
export const lackingGateway = (name: GatewayName): string | undefined =>
  PROGRAMS[name] ? undefined : `there is no ${name} (apt-get install ${name})`;

/** The samples in docs/gateways.md, by the names of their files. */
export async function gatewaySamples(): Promise<Map<string, string>> {
  const page = await readFile('docs/gateways.md', 'utf8');
  const samples = page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm);
  return new Map([...samples].map(([, file, text]) => [file!, text!]));
}

/** A program that a test has started, with a folder of its own. */
export class Gateway {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  /** Runs nginx or Caddy with a sample whose ports were replaced, and waits until it answers at this one. */
  static async start(name: GatewayName, sample: string, port: number): Promise<Gateway> {
    const folder = await mkdtemp(path.join(tmpdir(), `charging-${name}-`));
    const file = path.join(folder, name === 'nginx' ? 'nginx.conf' : 'Caddyfile');
    await writeFile(file, name === 'nginx' ? nginxFile(sample, folder) : caddyFile(sample));
    const args =
      name === 'nginx' ? ['-p', folder, '-c', file] : ['run', '--config', file, '--adapter', 'caddyfile'];
    const child = spawn(PROGRAMS[name]!, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    });
    const killWithUs = () => void child.kill('SIGTERM');
    process.once('exit', killWithUs);
    child.once('exit', () => process.off('exit', killWithUs));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
    const url = `http://127.0.0.1:${port}`;
    await until(`${name} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
    return new Gateway(url, child, folder);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = once(this.child, 'exit');
      this.child.kill('SIGTERM');
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

const nginxFile = (server: string, folder: string): string => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
${server}
}
`;

const caddyFile = (site: string): string => `{\n  admin off\n  auto_https off\n}\n${site}`;
