import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { freePort } from '../support/free-port.js';
import { madeOnce } from '../support/made.js';
import { PagePrograms } from '../support/page-programs.js';
import { useSharedService } from '../support/test-service.js';
import { newestGrantOf } from '../e2e/libraries.js';
import { signIn } from './every-page.js';
import { useBrowser } from './use-browser.js';

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
};

describe('The page of an application that uses oidc-client-ts as its page shows', () => {
  const service = useSharedService();
  const browser = useBrowser();
  let programs: PagePrograms;
  let server: Server;
  let address: string;
  const user = madeOnce(() => service.make.user());
  const client = madeOnce(() => service.make.client({ type: 'public', redirectUris: ['http://127.0.0.1/'] }));

  beforeAll(async () => {
    programs = await PagePrograms.of(service.http, '/docs/libraries/oidc-client-ts');
    const port = await freePort();
    address = `http://127.0.0.1:${port}/`;
    server = createServer((request, response) => {
      const { pathname } = new URL(request.url!, address);
      const file = path.join(programs.folder, pathname === '/' ? 'index.html' : pathname);
      readFile(file, 'utf8').then(
        (text) => {
          response.setHeader('content-type', TYPES[path.extname(file)] ?? 'text/plain');
          response.end(text.replace('your client id', client.id));
        },
        () => response.writeHead(404).end(),
      );
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await programs.remove();
  });

  const said = async (page: Page, text: string | RegExp): Promise<string> => {
    const place = page.locator('#said').filter({ hasText: text });
    await place.waitFor();
    return (await place.textContent())!;
  };
  const connect = async (decision: 'Authorize' | 'Cancel'): Promise<Page> => {
    const page = await browser.newPage();
    await signIn(service, page, user);
    await page.goto(address);
    await said(page, 'not connected');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('button', { name: decision, exact: true }).click();
    return page;
  };

  it('says that the user cancelled', async () => {
    const page = await connect('Cancel');
    await said(page, 'access_denied');
    expect(await newestGrantOf(service, client)).toBeUndefined();
  });

  it('connects the user with PKCE from another origin, refreshes and revokes', async () => {
    const page = await connect('Authorize');
    expect(JSON.parse(await said(page, user.id))).toMatchObject({ id: user.id });
    expect(new URL(page.url()).search).toBe('');
    const refreshed = page.waitForResponse(`${service.url}/o/token`);
    await page.getByRole('button', { name: 'Refresh' }).click();
    expect((await refreshed).status()).toBe(200);
    await said(page, user.id);
    expect(await newestGrantOf(service, client)).toEqual({ generation: 1, revoked: false });
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await said(page, 'disconnected');
    expect(await newestGrantOf(service, client)).toEqual({ generation: 1, revoked: true });
  });
});
