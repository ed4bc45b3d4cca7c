import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { BrowserSession, madeOnce, rowCounts, type TestClient, useSharedService } from '../support/spec.js';

const SIGN_IN = '/portal/sign-in';
const REFUSED = 'This user is an operator. This requires the role admin.';

describe('The people behind a client with operator scopes', () => {
  const service = useSharedService();
  const organisation = madeOnce(() => service.make.user({ kind: 'organisation', name: 'Charging Company' }));
  const admin = madeOnce(() => service.make.user());
  const developer = madeOnce(() => service.make.user());
  const client = madeOnce(() => operatorClient(organisation.id));
  const partnerClient = madeOnce(() =>
    service.make.client({ ownerId: organisation.id, name: 'Partner app' }),
  );
  let support: string;
  let helper: BrowserSession;

  beforeAll(async () => {
    const person = await service.make.user({ role: 'operator', operatorRole: 'support' });
    support = await service.make.clientToken(await operatorClient(person.id));
    helper = await service.make.signedIn(person);
    const members = service.app.get(MembersService);
    await members.add(organisation.id, admin.id, 'admin', SERVICE_ACTOR);
    await members.add(organisation.id, developer.id, 'developer', SERVICE_ACTOR);
  });

  const operatorClient = (ownerId: string): Promise<TestClient> =>
    service.make.client({
      ownerId,
      name: 'Robot with power',
      scopes: ['admin:read', 'admin:write'],
      grantTypes: ['client_credentials'],
      redirectUris: [],
    });

  it('count as operators for support: the owner and admin members, not other members', async () => {
    for (const { id } of [organisation, admin]) {
      const path = `/admin/users/${id}`;
      const attempts: [string, string, object?][] = [
        ['PATCH', path, { email: 'taken-over@mail.example' }],
        ['PATCH', path, { enabled: false }],
        ['POST', `${path}/password_links`],
        ['POST', `${path}/revoke_tokens`],
        ['DELETE', `${path}/second_factor`],
        ['PUT', `/admin/clients/${partnerClient.id}/consents/${id}`, { scopes: ['vehicle:read'] }],
        [
          'POST',
          '/admin/notifications',
          {
            message_id: 'ERR1',
            category: 'SERVICE',
            short_text_title: 'T',
            short_text_body: 'B',
            user_id: id,
          },
        ],
      ];
      const before = await rowCounts(service);
      for (const [method, at, json] of attempts) {
        const answer = await service.http.send(at, { method, bearer: support, json });
        expect([method, at, answer.status, answer.json?.detail]).toEqual([method, at, 403, REFUSED]);
      }
      expect(await rowCounts(service)).toEqual(before);
    }
    const link = { method: 'POST', bearer: support };
    expect((await service.http.send(`/admin/users/${developer.id}/password_links`, link)).status).toBe(201);
  });

  it('show support no action in the console, and its forms are refused', async () => {
    const path = `/admin/console/users/${admin.id}`;
    const page = await helper.open(path);
    expect(page.status).toBe(200);
    const forms = page.html.querySelectorAll('form[method="post"]');
    const actions = forms.map((form) => form.getAttribute('action'));
    expect(actions.filter((action) => action?.startsWith('/admin/console'))).toEqual([]);
    expect(page.text).not.toContain(`${path}/edit`);
    expect((await helper.open(`${path}/edit`)).status).toBe(403);
    expect((await helper.open(`/admin/console/%75sers/${admin.id}/edit`)).status).toBe(403);
    expect((await helper.open(`/admin/console/users/${developer.id}/edit`)).status).toBe(200);
  });

  it('show support no action in the lists of a client and of its grants', async () => {
    for (const user of [admin, developer]) await service.make.tokens(partnerClient, user);
    const client = `/admin/console/clients/${partnerClient.id}`;
    const consents = (await helper.open(`${client}/consents`)).html;
    const links = consents
      .querySelectorAll('a[href$="/disconnect"]')
      .map((link) => link.getAttribute('href'));
    expect(links).toEqual([`${client}/consents/${developer.id}/disconnect`]);
    const grants = (await helper.open(`${client}/grants`)).html;
    expect(grants.querySelectorAll('main form[action$="/revoke"]')).toHaveLength(1);
    const own = (await helper.open(`/admin/console/users/${admin.id}/grants`)).html;
    expect(own.querySelectorAll('main form[action$="/revoke"]')).toHaveLength(0);
  });

  describe('see nothing of it in the partner’s portal:', () => {
    it('it is not listed, and its portal is not opened', async () => {
      for (const user of [organisation, admin]) {
        const browser = await service.make.signedIn(user);
        const list = await browser.open(SIGN_IN);
        expect(list.text).toContain('Partner app');
        expect(list.text).not.toContain('Robot with power');
        const action = `${SIGN_IN}/${partnerClient.id}`;
        for (const form of list.html.querySelectorAll('form'))
          if (form.getAttribute('action') === action) form.setAttribute('action', `${SIGN_IN}/${client.id}`);
        // The token of a form belongs to its path, so a forged form is refused before anything else.
        expect((await browser.submit(list, `${SIGN_IN}/${client.id}`)).status).toBe(403);
      }
    });

    it('a session from before it had the scopes shows nothing', async () => {
      const browser = await service.make.signedIn(admin);
      const opened = await browser.submit(await browser.open(SIGN_IN), `${SIGN_IN}/${partnerClient.id}`);
      expect(opened.headers.get('location')).toBe('/portal');
      await service.database.query('UPDATE portal_member_sessions SET client_id = $1 WHERE client_id = $2', [
        client.id,
        partnerClient.id,
      ]);
      for (const path of ['/portal', '/portal/credentials'])
        expect((await browser.open(path)).status).toBe(401);
    });

    it('no link opens it', async () => {
      const bearer = await service.make.clientToken(client);
      expect((await service.http.get('/webhook_portal', { bearer })).status).toBe(403);
      expect((await service.http.send('/webhook_portal', { method: 'HEAD', bearer })).status).toBe(403);
    });
  });
});
