import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { demoBanner, demoText } from '../../demo/demo-banner.js';
import { loadDemoCredentials } from '../../demo/demo-credentials.js';
import { seedDemonstration } from '../../demo/demo-data.js';
import { BrowserSession } from '../support/browser-session.js';
import { useService } from '../support/test-service.js';

describe('The demonstration', () => {
  const service = useService();
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'demo-operators-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('has an operator of each role, whose printed credentials log in', async () => {
    const demo = await loadDemoCredentials(folder);
    await seedDemonstration(service.app.get(DataSource), demo, service.settings);
    const banner = demoBanner(service.settings, demo);
    const rows = banner.split('\n').map((line) => Math.max(1, Math.ceil(line.length / 80)));
    expect(rows.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(23);
    for (const [role, { email, password }] of Object.entries({
      admin: demo.operator,
      support: demo.supportOperator,
      viewer: demo.viewerOperator,
    })) {
      expect(banner).toContain(`${email}   ${password}   (${role})`);
      const browser = new BrowserSession(service.url);
      await browser.logIn(email, password);
      const page = await browser.open('/admin/console');
      expect([page.status, page.html.querySelector('.console-identity')!.text]).toEqual([
        200,
        expect.stringContaining(`(${role})`),
      ]);
    }
  });

  it('has a client in the sandbox, whose printed commands work', async () => {
    const demo = await loadDemoCredentials(folder);
    await seedDemonstration(service.app.get(DataSource), demo, service.settings);
    const text = demoText(service.settings, demo);
    expect(text).toContain(demo.sandboxClient.secret);
    const { json } = await service.http.token({ grant_type: 'client_credentials' }, demo.sandboxClient);
    const bearer = json.access_token as string;
    const drivers = await service.http.get('/v2/sandbox/drivers', { bearer });
    expect(drivers.json).toMatchObject([{ id: demo.sandboxDriver.id, consented: true, seed: 4711 }]);
    const path = `/v2/sandbox/drivers/${demo.sandboxDriver.id}/sessions`;
    expect(text).toContain(path);
    expect((await service.http.send(path, { bearer, json: { speed: 60 } })).status).toBe(202);
  });

  it('keeps the credentials of an earlier start, and adds those that it did not have', async () => {
    const file = path.join(folder, 'demo-credentials.json');
    const made = await loadDemoCredentials(folder);
    const { organisation, driver, operator } = made;
    const earlier = { organisation, driver, operator };
    await writeFile(file, JSON.stringify(earlier));
    const now = await loadDemoCredentials(folder);
    expect(now).toMatchObject(earlier);
    expect(now.viewerOperator.email).toBe('viewer@demo.example');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(now);
  });
});
