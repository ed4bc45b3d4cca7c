import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { FrontServer } from './front-server.js';

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

/** nginx or Caddy in front of the service. */
export class Gateway extends FrontServer {
  private constructor(
    readonly url: string,
    child: ChildProcess,
    folder: string,
  ) {
    super(child, folder);
  }

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
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += String(text)));
    const gateway = new Gateway(`http://127.0.0.1:${port}`, child, folder);
    await gateway.untilItAnswers(gateway.url, () => said);
    return gateway;
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
