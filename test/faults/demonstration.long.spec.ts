import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { STATIC_ASSETS } from '#platform/http/server/assets.js';
import { BrowserSession, Http, leadsTo, type Page, until } from '../support/spec.js';
import { freePort } from '../support/free-port.js';
import { Receiver } from '../support/receiver.js';
import { SpawnedService } from '../support/spawned-service.js';

/** A replacement for curl where it is not installed, with the few options that the printed commands use. */
const CURL = `#!${process.execPath}
const [, , ...args] = process.argv, headers = {}, body = [];
let url, method;
for (let n = 0; n < args.length; n++) {
  if (args[n] === '-u') headers.authorization = 'Basic ' + Buffer.from(args[++n]).toString('base64');
  else if (args[n] === '-H') { const [name, value] = args[++n].split(': '); headers[name] = value; }
  else if (args[n] === '-d') { body.push(args[++n]); headers['content-type'] = 'application/x-www-form-urlencoded'; }
  else if (!args[n].startsWith('-')) url = args[n];
}
fetch(url, { headers, ...(body.length ? { method: 'POST', body: body.join('&') } : {}) })
  .then((answer) => answer.text()).then((text) => process.stdout.write(text));
`;

interface Demonstration {
  service: SpawnedService;
  port: number;
  url: string;
}

describe('the process as a demonstration', () => {
  let root: string;
  let first: Demonstration;
  let other: Demonstration;
  let shellPath = process.env.PATH ?? '';

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'charging-process-'));
    // When run as root, PostgreSQL switches to another user, who needs access to the folder.
    await chmod(root, 0o755);
    if (spawnSync('curl', ['--version']).status !== 0) {
      await mkdir(path.join(root, 'bin'));
      await writeFile(path.join(root, 'bin', 'curl'), CURL, { mode: 0o755 });
      shellPath = `${path.join(root, 'bin')}:${shellPath}`;
    }
    [first, other] = await Promise.all([demonstration('first'), demonstration('other')]);
    await Promise.all([first.service.ready(), other.service.ready()]);
  });
  afterAll(async () => {
    await SpawnedService.killAll();
    await Promise.all((await readdir(root)).map((name) => endPostgres(path.join(root, name))));
    await rm(root, { recursive: true, force: true });
  });

  /** Stops the database that a killed demonstration left behind. */
  async function endPostgres(dataDir: string): Promise<void> {
    const file = path.join(dataDir, 'postgres', 'postmaster.pid');
    const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
    if (!pid) return;
    process.kill(pid, 'SIGQUIT');
    await until('the database has ended', () => !isAlive(pid));
  }

  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  const shell = async (...lines: string[]): Promise<string> => {
    const env = { ...process.env, PATH: shellPath };
    return (await promisify(execFile)('sh', ['-c', lines.join('\n')], { env })).stdout;
  };

  /** The page to which this answer leads in the end. */
  const follow = async (browser: BrowserSession, answer: Page): Promise<Page> => {
    const next = leadsTo(answer);
    return next === undefined ? answer : follow(browser, await browser.open(next));
  };

  const demonstration = async (name: string): Promise<Demonstration> => {
    const port = await freePort();
    const service = new SpawnedService({ DATA_DIR: path.join(root, name), PORT: String(port) });
    return { service, port, url: `http://localhost:${port}` };
  };

  /** The printed commands that contain this text. */
  const commands = (printed: string, text: string): string[] =>
    printed.split('\n').filter((line) => /^([A-Z]+=\$\()?curl /.test(line) && line.includes(text));

  const credentials = (printed: string): string[] =>
    printed
      .split('\n')
      .filter((line) => /@demo\.example|client_(id|secret) +\S/.test(line) && !line.includes('curl'));

  it('prints addresses, credentials, and commands that work when pasted', async () => {
    const { url } = first;
    expect(first.service.printed).toContain(`${url}/\n`);
    expect(credentials(first.service.printed)).toHaveLength(8);
    // The rest stands where the start says.
    expect(first.service.printed).toContain(`${url}/demo\n`);
    const printed = (await new Http(url).get('/demo.txt')).text;
    expect(credentials(printed)).toHaveLength(13);
    for (const line of credentials(first.service.printed)) expect(printed).toContain(line);
    // A site whose name leads here reads nothing.
    for (const path of ['/demo', '/demo.txt']) {
      const asked = get({ port: first.port, path, headers: { host: 'demo.example' } });
      const [answer] = (await once(asked, 'response')) as [IncomingMessage];
      answer.resume();
      expect([path, answer.statusCode]).toEqual([path, 404]);
    }
    const [token] = commands(printed, 'client_credentials').filter((line) => line.startsWith('curl'));
    expect(JSON.parse(await shell(token!))).toMatchObject({ token_type: 'Bearer', expires_in: 36_000 });
    const variable = (name: string) => commands(printed, '').filter((line) => line.startsWith(`${name}=`));
    const [portalLink] = commands(printed, '$TOKEN').filter((line) => line.includes('/webhook_portal'));
    const link = JSON.parse(await shell(...variable('TOKEN'), portalLink!)) as { url: string };
    expect((await new Http(url).get(link.url)).status).toBe(200);
    // The build includes the styles, in the folder where they are expected.
    for (const asset of STATIC_ASSETS) expect((await new Http(url).get(asset.path)).status).toBe(200);
    const [listed] = commands(printed, '$ADMIN').filter((line) => line.includes('/admin/clients'));
    expect(JSON.parse(await shell(...variable('ADMIN'), listed!))).toHaveLength(7);

    const driver = /EV driver +(\S+) +(\S+)/.exec(printed)!;
    const browser = new BrowserSession(url);
    await browser.logIn(driver[1]!, driver[2]!);
    const addresses = printed.split('\n').filter((line) => line.startsWith(`${url}/o/authorize/`));
    const exchanges = commands(printed, '$CODE');
    // The last address is that of the sandbox, where nobody logs in.
    expect([addresses.length, exchanges.length]).toEqual([3, 2]);
    for (const [n, exchange] of exchanges.entries()) {
      const consent = await browser.open(addresses[n]!);
      const answer = await browser.submit(consent, '/o/authorize/', { decision: 'authorize' });
      const code = /CODE=[\w-]+/.exec((await browser.open(answer.headers.get('location')!)).text)![0];
      expect(JSON.parse(await shell(code, exchange))).toHaveProperty('refresh_token');
    }
  });

  it('shows a stranger a car that charges, and signed webhooks that arrive', async () => {
    const browser = new BrowserSession(first.url);
    const start = await browser.open('/');
    expect(start.html.querySelector('main a')!.getAttribute('href')).toBe('/demo/sandbox');
    const link = await follow(browser, await browser.open('/demo/sandbox'));
    const open = link.html.querySelector('form[action^="/portal/login/"]')!.getAttribute('action')!;
    const sandbox = await follow(browser, await browser.submit(link, open));
    const action = sandbox.html.querySelector('form[action$="/sessions"]')!.getAttribute('action')!;
    await browser.submit(sandbox, action);
    await until('the first webhook has arrived', async () => {
      const { text } = (await browser.open('/portal/sandbox')).html;
      return text.includes('Delivered') && text.includes('Status 200') && text.includes('plugged in');
    });
    // Only what was signed is accepted.
    expect((await new Http(first.url).send('/demo/receiver', { json: {} })).status).toBe(401);
  });

  it('shows a mail as mail programs do, in a frame that runs and loads nothing, and as text', async () => {
    const browser = new BrowserSession(first.url);
    const asked = await browser.open('/password/forgotten');
    const email = /driver@\S+/.exec(await new Http(first.url).get('/demo.txt').then(({ text }) => text))![0];
    await browser.submit(asked, '/password/forgotten', { email });
    let mail: string | undefined;
    await until('the mail is there', async () => {
      const inbox = await browser.open('/demo/mail');
      mail = inbox.html
        .querySelectorAll('main .entries a')
        .find(({ text }) => text.includes('Set a new password'))
        ?.getAttribute('href');
      return mail !== undefined;
    });
    const page = await browser.open(mail!);
    const frame = page.html.querySelector('iframe')!;
    expect(frame.getAttribute('sandbox')).toBe('allow-top-navigation-by-user-activation');
    const shown = await new Http(first.url).get(frame.getAttribute('src')!);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; .*frame-ancestors 'self'.*; sandbox /,
      ),
      'x-frame-options': 'SAMEORIGIN',
    });
    const link = /http\S+\/password\/[\w-]+/.exec(page.html.querySelector('details')!.text)![0];
    expect(shown.text).toContain(`href="${link}"`);
    expect((await new Http(first.url).get('/demo/mail/none/html')).status).toBe(404);
  });

  it('lets a developer add an endpoint of their own on this machine, to the sandbox', async () => {
    const receiver = await Receiver.start();
    try {
      const browser = new BrowserSession(first.url);
      const link = await follow(browser, await browser.open('/demo/sandbox'));
      const open = link.html.querySelector('form[action^="/portal/login/"]')!.getAttribute('action')!;
      await browser.submit(link, open);
      const path = '/portal/endpoints/new';
      const fields = { url: receiver.url('/hook'), event_types: 'vehicle.updated' };
      const added = await browser.submit(await browser.open(path), path, fields);
      const endpoint = added.headers.get('location')!;
      expect([added.status, endpoint]).toEqual([303, expect.stringMatching(/^\/portal\/endpoints\/endp/)]);
      await browser.fillIn(`${endpoint}/test`, { type: 'vehicle.updated' });
      await until('the test has arrived', () => receiver.requests.length > 0);
      expect(receiver.requests[0]!.headers['webhook-signature']).toMatch(/^v1,/);
    } finally {
      await receiver.stop();
    }
  });

  it('has an identity provider without any setting: one press logs a driver in, another one out', async () => {
    const { url } = first;
    const browser = new BrowserSession(url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/demo-company');
    let page = await follow(browser, begun);
    const driver = page.html.querySelectorAll('button').find(({ text }) => text === 'Ada Driver')!;
    const action = page.html.querySelector('form')!.getAttribute('action')!;
    page = await follow(
      browser,
      await browser.submit(page, action, { person: driver.getAttribute('value') }),
    );
    expect(page.html.text).toContain('driver@demo.example');

    page = await follow(browser, await browser.submit(await browser.open('/account'), '/logout'));
    expect(page.html.querySelector('h1')!.text).toBe('Log out of Demo company?');
    const end = page.html.querySelector('form')!.getAttribute('action')!;
    page = await follow(browser, await browser.submit(page, end, { logout: 'yes' }));
    expect([page.html.querySelector('h1')!.text, (await browser.open('/account')).status]).toEqual([
      'Log in',
      302,
    ]);
  });

  it('keeps its credentials across starts, also after it was killed; another demonstration has different ones', async () => {
    const kept = credentials(first.service.printed);
    for (const line of credentials(other.service.printed)) expect(kept).not.toContain(line);
    expect(await first.service.stop()).toBe(0);
    const second = await demonstration('first');
    await second.service.ready();
    expect(credentials(second.service.printed)).toEqual(kept);
    second.service.signal('SIGKILL');
    expect(await second.service.exit()).toBeNull();
    const third = await demonstration('first');
    await third.service.ready();
    expect(credentials(third.service.printed)).toEqual(kept);
    const [token] = commands(third.service.printed, 'client_credentials');
    expect(JSON.parse(await shell(token!))).toHaveProperty('access_token');
    // A second demonstration does not know the first one's clients.
    const stranger = token!.replace(third.url, other.url);
    expect(JSON.parse(await shell(stranger))).toMatchObject({ error: 'invalid_client' });
    expect(await Promise.all([third.service.stop(), other.service.stop()])).toEqual([0, 0]);
  });
});
