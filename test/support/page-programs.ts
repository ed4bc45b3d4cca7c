import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'node-html-parser';
import type { Http } from './http.js';
import { TalkingProcess } from './talking-process.js';
import { until } from './until.js';

const succeeds = (command: string, args: string[]): boolean => spawnSync(command, args).status === 0;

// The first Python of the PATH need not be the one that the packages of the distribution are for.
const pythonWith = (module: string): string | undefined =>
  ['python3', '/usr/bin/python3'].find((python) => succeeds(python, ['-c', `import ${module}`]));
const PYTHONS = new Map(
  ['requests_oauthlib', 'authlib'].map((module) => [module, pythonWith(module)] as const),
);

const GO_SOURCES = '/usr/share/gocode';
const hasGo = succeeds('go', ['version']);
const hasGoOAuth = hasGo && existsSync(`${GO_SOURCES}/src/golang.org/x/oauth2`);

/** Why the programs of a page cannot run on this machine; undefined if they can. */
export const LACKING = {
  'requests-oauthlib': PYTHONS.get('requests_oauthlib')
    ? undefined
    : 'no python3 has requests_oauthlib (apt-get install python3-requests-oauthlib)',
  authlib: PYTHONS.get('authlib') ? undefined : 'no python3 has authlib (apt-get install python3-authlib)',
  go: hasGo ? undefined : 'there is no go (apt-get install golang-go)',
  'go-oauth2': hasGoOAuth
    ? undefined
    : 'there is no go with x/oauth2 (apt-get install golang-go golang-golang-x-oauth2-dev)',
  'go-jose':
    hasGo && existsSync(`${GO_SOURCES}/src/gopkg.in/square/go-jose.v2`)
      ? undefined
      : 'there is no go with go-jose (apt-get install golang-go golang-gopkg-square-go-jose.v2-dev)',
  'ruby-oauth2': succeeds('ruby', ['-r', 'oauth2', '-e', ''])
    ? undefined
    : 'no ruby has oauth2 (apt-get install ruby-oauth2)',
};

/** A program that a page shows, while it runs. */
export class PageProgram extends TalkingProcess {
  /** The first line that it writes. Throws if it ends before. */
  async firstLine(): Promise<string> {
    await until('the program writes a line', () => {
      if (this.child.exitCode !== null) throw new Error(`ended with ${this.child.exitCode}: ${this.err}`);
      return this.out.includes('\n');
    });
    return this.out.slice(0, this.out.indexOf('\n'));
  }

  /** Types a line into it. */
  type(line: string): void {
    this.child.stdin!.write(`${line}\n`);
  }

  /** Waits until it ends. */
  async end(): Promise<{ code: number | null; lines: string[]; err: string }> {
    this.child.stdin!.end();
    await this.ended;
    return { code: this.child.exitCode, lines: this.out.trim().split('\n'), err: this.err };
  }
}

/** The files that a page of the handbook shows, as a reader would copy them, in a folder of their own. */
export class PagePrograms {
  private constructor(
    readonly folder: string,
    readonly files: Map<string, string>,
  ) {}

  static async of(http: Http, address: string, { inGo = false } = {}): Promise<PagePrograms> {
    const { status, text } = await http.get(address);
    if (status !== 200) throw new Error(`${status} of ${address}`);
    const html = parse(text, { blockTextElements: { script: true, style: true } });
    const files = new Map(
      html.querySelectorAll('pre[data-file]').map((pre) => [pre.getAttribute('data-file')!, pre.textContent]),
    );
    const folder = await mkdtemp(path.join(tmpdir(), 'charging-page-'));
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
    for (const [name, text] of files) await writeFile(path.join(folder, name), text);
    const programs = new PagePrograms(folder, files);
    if (inGo) for (const file of files.keys()) if (file.endsWith('.go')) await programs.build(file);
    return programs;
  }

  /** Writes a file beside those of the page; one in Go is compiled. */
  async add(file: string, text: string): Promise<void> {
    this.files.set(file, text);
    await writeFile(path.join(this.folder, file), text);
    if (file.endsWith('.go')) await this.build(file);
  }

  /** Starts one of the files in its language. */
  start(file: string, settings: Record<string, string> = {}, given: string[] = []): PageProgram {
    const [command, ...args] = [...this.commandOf(file), ...given];
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      // Loopback has no TLS.
      OAUTHLIB_INSECURE_TRANSPORT: '1',
      AUTHLIB_INSECURE_TRANSPORT: '1',
      ...settings,
    };
    return new PageProgram(spawn(command!, args, { cwd: this.folder, env }));
  }

  private commandOf(file: string): string[] {
    if (file.endsWith('.mjs')) return [process.execPath, file];
    if (file.endsWith('.sh')) return ['bash', file];
    if (file.endsWith('.rb')) return ['ruby', file];
    if (file.endsWith('.go')) return [path.join(this.folder, file.slice(0, -'.go'.length))];
    const [, python] = [...PYTHONS].find(([module]) => this.files.get(file)?.includes(module)) ?? [];
    return [python ?? 'python3', file];
  }

  private async build(file: string): Promise<void> {
    const env = {
      ...process.env,
      // It stays for the next run.
      GOCACHE: path.join(tmpdir(), 'charging-go-cache'),
      GO111MODULE: 'off',
      GOPATH: GO_SOURCES,
      CGO_ENABLED: '0',
    };
    const compiler = new PageProgram(spawn('go', ['build', file], { cwd: this.folder, env }));
    const { code, err } = await compiler.end();
    if (code !== 0) throw new Error(`${file} does not compile: ${err}`);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
