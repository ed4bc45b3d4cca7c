import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { logoFrom } from '#records/brand/logo-image.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { changesRead } from '../support/changes-read.js';
import { authorizePath, BrowserSession, type Page } from '../support/browser-session.js';
import { CONSOLE } from '../support/console.js';
import { membersIn, placeOf, REDIRECT_URI, useSharedService } from '../support/spec.js';
import { inParts } from '../support/in-parts.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { enterPortal, errorAt, wordsOf } from '../support/portal.js';
import { movingWebp, png, upload } from '../support/uploads.js';

const IDENTITY = {
  organisation: 'Planner GmbH',
  site: 'https://planner.example/app',
  privacy_policy: 'https://planner.example/privacy',
};

describe('What users see of a client', () => {
  const service = useSharedService({ instances: 2 });
  const admin = madeOnce(() => service.make.user({ role: 'operator' }));
  const driver = madeOnce(() => service.make.user({ name: 'Dana Driver' }));
  const owner = madeOnce(() => service.make.user({ kind: 'organisation' }));
  const client = madeForEach(() => service.make.client({ name: 'Planner', ownerId: owner.id }));
  const token = madeOnce(async () => ({ bearer: await service.make.adminToken() }));
  const console = madeOnce(() => service.make.signedIn(admin));

  const change = (json: object) =>
    service.http.send(`/admin/clients/${client.id}`, { method: 'PATCH', json, ...token });
  const logoPath = () => `${CONSOLE}/clients/${client.id}/logo`;
  const consentPage = async ({ url } = service.instances[0]!): Promise<Page> => {
    const browser = new BrowserSession(url);
    // The login is at the address that both have in public.
    const atFirst = await service.make.signedIn(driver);
    for (const [name, value] of atFirst.cookies) browser.cookies.set(name, value);
    return browser.open(
      authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, state: 's' }),
    );
  };
  const setLogo = async () =>
    service.app.get(ClientsService).changeLogo(client.id, await logoFrom(await png(48)), SERVICE_ACTOR);
  const shownIn = (page: Page) => ({
    details: page.html.querySelectorAll('.client-details > span').map(({ text }) => text.trim()),
    links: page.html.querySelectorAll('.client-details a').map((link) => link.getAttribute('href')),
    logo: page.html.querySelector('.tile-logo')?.getAttribute('src'),
  });

  describe('is refused', () => {
    it.each([
      ['site', 'http://planner.example'],
      ['site', 'javascript:alert(1)'],
      ['site', ''],
      ['site', 5],
      ['privacy_policy', 'data:text/html,x'],
      ['privacy_policy', 'https://user:pass@planner.example/'],
      ['privacy_policy', `https://planner.example/${'x'.repeat(2000)}`],
      ['organisation', ''],
      ['organisation', '   '],
      ['organisation', 'x'.repeat(101)],
      ['organisation', 'Planner\u202e GmbH'],
    ])('with the %s %j, by the API', async (member, value) => {
      const answer = await change({ [member]: value });
      expect([answer.status, membersIn(answer)]).toEqual([400, [member]]);
    });

    it('with such values in the form of the console, beside each field', async () => {
      const path = `${CONSOLE}/clients/${client.id}/edit`;
      const page = await console.fillIn(path, {
        organisation: 'x'.repeat(101),
        site: 'http://planner.example',
        privacy_policy: 'javascript:alert(1)',
      });
      expect([page.status, errorAt(page, 'organisation'), errorAt(page, 'site')]).toEqual([
        400,
        'Enter 1 to 100 characters.',
        'Enter a URL that begins with https://.',
      ]);
      expect(errorAt(page, 'privacy_policy')).toBe('Enter a URL that begins with https://.');
    });

    it('as a member that is not there: the logo comes from the console alone', async () => {
      for (const member of ['logo', 'logo_url', 'logo_id']) {
        const answer = await change({ [member]: 'https://evil.example/logo.svg' });
        expect([member, answer.status]).toEqual([member, 400]);
      }
    });

    it('as a logo that is no still image, or of operators who are no admins', async () => {
      const page = await upload(console, logoPath(), await movingWebp());
      expect([page.status, errorAt(page, 'logo')]).toEqual([400, 'Must be a still image.']);
      const other = await service.make.signedInNew({ role: 'operator', operatorRole: 'support' });
      expect((await other.open(logoPath())).status).toBe(403);
      const parts = await inParts({ csrf_token: 'x', logo: await png() });
      for (const browser of [other, console])
        expect((await browser.open(logoPath(), parts)).status).toBe(403);
      expect((await service.http.get(`/admin/clients/${client.id}`, token)).json.logo_url).toBeNull();
    });

    it('of a client that is not there', async () => {
      const gone = `${CONSOLE}/clients/clnt01HN2NJ9NMRZBXT1H6FT9N7735/logo`;
      expect((await console.open(gone)).status).toBe(404);
    });
  });

  it('is null where nothing is known, and then pages show the name alone', async () => {
    const { json } = await service.http.get(`/admin/clients/${client.id}`, token);
    expect(json).toMatchObject({ organisation: null, site: null, privacy_policy: null, logo_url: null });
    const page = await consentPage();
    expect(shownIn(page)).toEqual({ details: [], links: [], logo: undefined });
    expect(page.html.querySelector('.client-tile .tile-application')!.text).toBe('P');
  });

  it('is given at once by the API, and taken away with null', async () => {
    const created = await service.http.send('/admin/clients', {
      json: {
        name: 'Made',
        type: 'confidential',
        grant_types: ['client_credentials'],
        scopes: ['vehicle:read'],
        owner_id: client.ownerId,
        ...IDENTITY,
      },
      ...token,
    });
    expect([created.status, created.json]).toEqual([
      201,
      expect.objectContaining({ ...IDENTITY, logo_url: null }),
    ]);
    expect((await change(IDENTITY)).json).toMatchObject(IDENTITY);
    expect((await change({ site: null })).json).toMatchObject({ ...IDENTITY, site: null });
    expect((await change({ organisation: null, privacy_policy: null })).json).toMatchObject({
      organisation: null,
      privacy_policy: null,
    });
  });

  it('is typed in the console, where an empty field is none, and audited', async () => {
    const path = `${CONSOLE}/clients/${client.id}/edit`;
    expect(placeOf(await console.fillIn(path, IDENTITY))).toEqual([303, `${CONSOLE}/clients/${client.id}`]);
    expect(wordsOf(await console.open(`${CONSOLE}/clients/${client.id}`))).toContain('Planner GmbH');
    await console.fillIn(path, { ...IDENTITY, site: ' ' });
    const { json } = await service.http.get(`/admin/clients/${client.id}`, token);
    expect(json).toMatchObject({ ...IDENTITY, site: null });
    const changes = await service.database.query<{ before: object; after: object }>(
      `SELECT before, after FROM audit_events WHERE subject_id = $1 AND action = 'client.updated' ORDER BY id`,
      [client.id],
    );
    expect(changes).toEqual([
      { before: { organisation: null, site: null, privacy_policy: null }, after: IDENTITY },
      { before: { site: IDENTITY.site }, after: { site: null } },
    ]);
  });

  it('stands on the consent page of every instance at once, with links that give nothing away', async () => {
    // Both have read the client.
    for (const instance of service.instances) await consentPage(instance);
    await change(IDENTITY);
    await setLogo();
    // The other instance has read what changed.
    await changesRead(service);
    const { json } = await service.http.get(`/admin/clients/${client.id}`, token);
    for (const instance of service.instances) {
      const page = await consentPage(instance);
      expect(shownIn(page)).toEqual({
        details: ['By Planner GmbH', 'planner.example', 'Privacy policy'],
        links: [IDENTITY.site, IDENTITY.privacy_policy],
        logo: expect.stringMatching(/^\/logos\/[0-9a-f]{64}$/),
      });
      expect(json.logo_url).toBe(`${service.url}${shownIn(page).logo}`);
      for (const link of page.html.querySelectorAll('.client-details a'))
        expect(link.getAttribute('rel')).toBe('noopener noreferrer');
      expect(page.headers.get('content-security-policy')).toContain("img-src 'self'");
    }
  });

  it('stands in the list of applications of an account and in the portal', async () => {
    await change({ ...IDENTITY, site: 'https://bücher.example/<b>' });
    await setLogo();
    await service.make.consent(client, driver);
    const account = await (await service.make.signedIn(driver)).open('/account');
    const entry = account.html
      .querySelectorAll('.entries > li')
      .find(({ text }) => text.includes('By Planner GmbH'));
    expect(entry!.querySelector('.tile-logo')).not.toBeNull();
    // As browsers show it, so that no letter looks like another.
    expect(entry!.text).toContain('xn--bcher-kva.example');
    const portal = await (await enterPortal(service, client)).open('/portal');
    expect(portal.html.querySelector('.portal-bar .tile-logo')).not.toBeNull();
    const list = await (await service.make.signedIn(owner)).open('/portal/sign-in');
    expect(list.html.querySelector('.entries .tile-logo')).not.toBeNull();
  });

  it('is a logo that an admin uploads and removes, which the audit log says', async () => {
    expect(placeOf(await upload(console, logoPath(), await png(96)))).toEqual([
      303,
      `${CONSOLE}/clients/${client.id}`,
    ]);
    const { json } = await service.http.get(`/admin/clients/${client.id}`, token);
    expect((await fetch(json.logo_url as string)).headers.get('content-type')).toBe('image/png');
    // The same file again changes nothing.
    await upload(console, logoPath(), await png(96));
    const page = await console.open(logoPath());
    expect(placeOf(await console.submit(page, `${logoPath()}/remove`)).at(0)).toBe(303);
    const logo = (json.logo_url as string).slice(-64);
    expect(
      await service.database.query(
        `SELECT before, after FROM audit_events WHERE subject_id = $1 AND action = 'client.updated' ORDER BY id`,
        [client.id],
      ),
    ).toEqual([
      { before: { logo: null }, after: { logo } },
      { before: { logo }, after: { logo: null } },
    ]);
  });

  it('goes with the client, and the logo of another stays', async () => {
    const other = await service.make.client();
    const image = await logoFrom(await png(20, 20, '#ff0000'));
    const clients = service.app.get(ClientsService);
    for (const { id } of [client, other]) await clients.changeLogo(id, image, SERVICE_ACTOR);
    await clients.delete(client.id, SERVICE_ACTOR);
    const { json } = await service.http.get(`/admin/clients/${other.id}`, token);
    expect((await service.http.get(new URL(json.logo_url as string).pathname)).status).toBe(200);
  });
});
