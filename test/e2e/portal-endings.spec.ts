import { enterPortal, isAccepted, madeForEach, useSharedService } from '../support/spec.js';
import type { BrowserSession } from '../support/browser-session.js';
import { PortalLinksRepository } from '#entrypoints/webhook-portal/access/portal-links.repository.js';

/* Whatever takes away access to the webhook portal also ends its sessions and its unused links. */
describe('The webhook portal', () => {
  const service = useSharedService();
  let bearer: string;
  let operator: BrowserSession;
  let clientToken: string;
  let inside: BrowserSession;
  let link: string;

  beforeAll(async () => {
    bearer = await service.make.adminToken();
    operator = await service.make.signedIn(await service.make.user({ role: 'operator' }));
  });
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const client = madeForEach(() => service.make.client({ ownerId: owner.id }));
  beforeEach(async () => {
    clientToken = await service.make.clientToken(client);
    inside = await enterPortal(service, client);
    const { json } = await service.http.get('/webhook_portal', { bearer: clientToken });
    link = new URL(json.url as string).pathname;
  });

  const statuses = async () => [(await inside.open('/portal')).status, (await inside.open(link)).status];
  const admin = async (method: string, path: string, json?: unknown): Promise<void> => {
    const { status, text } = await service.http.send(path, { method, bearer, json });
    if (status >= 300) throw new Error(text);
  };
  const press = async (path: string): Promise<void> => {
    const answer = await operator.fillIn(path);
    if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${answer.text}`);
  };

  const patchOwner = (json: object, id = owner.id) => admin('PATCH', `/admin/users/${id}`, json);
  const rotate = (expire_previous_in: number) =>
    admin('POST', `/admin/clients/${client.id}/secrets`, { expire_previous_in });
  const revoke = (id = client.id) => admin('POST', `/admin/clients/${id}/revoke_tokens`);
  /** Switches something off and on again; both are closed in between, too. */
  const offAndOn = async (path: string, member = 'enabled'): Promise<void> => {
    await admin('PATCH', path, { [member]: false });
    expect(await statuses()).toEqual([401, 410]);
    await admin('PATCH', path, { [member]: true });
  };

  it.each(
    Object.entries<() => Promise<unknown>>({
      'a change of its owner that takes nothing away': () =>
        patchOwner({ webhooks_enabled: true, name: 'Another' }),
      'a secret rotated with an overlap': () => rotate(60),
      'the tokens of another client are revoked': async () => revoke((await service.make.client()).id),
      'another owner loses the permission for webhooks': async () =>
        patchOwner({ webhooks_enabled: false }, (await service.make.client()).ownerId),
    }),
  )('stays open after %s', async (_what, change) => {
    await change();
    expect(await statuses()).toEqual([200, 200]);
  });

  it.each(
    Object.entries<() => Promise<unknown>>({
      'the tokens of the client are revoked by the admin API': () => revoke(),
      'the tokens of the client are revoked in the console': () =>
        press(`/admin/console/clients/${client.id}/revoke`),
      'the secret is rotated without an overlap by the admin API': () => rotate(0),
      'webhooks are switched off and on by the admin API': () =>
        offAndOn(`/admin/users/${owner.id}`, 'webhooks_enabled'),
      'the client is disabled and enabled': () => offAndOn(`/admin/clients/${client.id}`),
      'its owner is disabled and enabled': () => offAndOn(`/admin/users/${owner.id}`),
    }),
  )('closes its session and its link when %s', async (_what, end) => {
    await end();
    expect(await statuses()).toEqual([401, 410]);
  });

  it('closes without ending tokens when webhooks are switched off or the secret is rotated', async () => {
    await offAndOn(`/admin/users/${owner.id}`, 'webhooks_enabled');
    await rotate(0);
    expect(await isAccepted(service.http, clientToken)).toBe(true);
    expect(await statuses()).toEqual([401, 410]);
  });

  it.each<[string, () => Promise<string>, () => Promise<unknown>]>([
    ['the tokens of the client are revoked', async () => clientToken, () => revoke()],
    [
      'the grant of its owner is revoked',
      async () => (await service.make.tokens(client, owner)).access_token,
      () => admin('POST', `/admin/users/${owner.id}/revoke_tokens`),
    ],
  ])(
    'is not opened by a link that was requested before, but stored after, %s',
    async (_what, tokenOf, end) => {
      const token = await tokenOf();
      const links = service.app.get(PortalLinksRepository);
      const insert = links.insertLink.bind(links);
      const held = jest.spyOn(links, 'insertLink').mockImplementation(async (...link) => {
        await end();
        return insert(...link);
      });
      try {
        const refused = await service.http.get('/webhook_portal', { bearer: token });
        expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
          401,
          expect.stringContaining('error="invalid_token", error_description="The access token was revoked."'),
        ]);
      } finally {
        held.mockRestore();
      }
    },
  );
});
