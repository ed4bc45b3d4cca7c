import { auditEventsOn } from '../support/audit-events.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { useServiceWithProvider } from '../support/set-up.js';

const ROLES = { role_claim: 'groups', roles: { admins: 'admin' } };
const PROVIDERS = [
  {
    id: 'people',
    accounts: 'create',
    audience: ['users', 'operators'],
    scope: 'openid email groups',
    ...ROLES,
  },
];

describe('The audit log shows', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, PROVIDERS);
  // Nobody in these tests is the last admin.
  beforeAll(async () => void (await service.make.user({ role: 'operator' })));

  const eventsOn = (id: string, action: string) => auditEventsOn(service, id, action);
  const logIn = async (sub: string, claims: object): Promise<string> => {
    idp.people.set(sub, { email: `${sub}@mail.example`, email_verified: true, ...claims });
    await new PersonBrowser(service.url, idp.url).logIn(sub, 'people');
    const [user] = await service.database.query<{ id: string }>(
      'SELECT user_id AS id FROM identities WHERE subject = $1',
      [sub],
    );
    return user!.id;
  };

  it('that a consent lost its evidence', async () => {
    const client = await service.make.client();
    const user = await service.make.user();
    const bearer = await service.make.adminToken();
    const record = (json: object) =>
      service.http.send(`/admin/clients/${client.id}/consents/${user.id}`, { method: 'PUT', bearer, json });
    await record({ scopes: ['vehicle:read'], evidence: 'Contract 7' });
    await record({ scopes: ['vehicle:read'] });
    const scopes = { client_id: client.id, scopes: ['vehicle:read'] };
    expect(await eventsOn(user.id, 'consent.updated')).toMatchObject([
      { before: { ...scopes, evidence: 'Contract 7' }, after: scopes },
    ]);
  });

  it('that a provider verified the address of an account, once', async () => {
    const id = await logIn('verified1', {});
    await service.database.query('UPDATE users SET email_verified_at = NULL WHERE id = $1', [id]);
    await logIn('verified1', { email_verified: false });
    expect(await eventsOn(id, 'user.email_verified')).toEqual([]);
    await logIn('verified1', {});
    await logIn('verified1', {});
    expect(await eventsOn(id, 'user.email_verified')).toMatchObject([{ actor_id: id }]);
  });

  it('that an address is no longer verified after a provider gave its account a role', async () => {
    const id = await logIn('gains1', {});
    await logIn('gains1', { email_verified: false, groups: ['admins'] });
    expect(await eventsOn(id, 'user.updated')).toMatchObject([
      {
        before: { role: 'user', operator_role: null, email_verified: true },
        after: { role: 'operator', operator_role: 'admin', email_verified: false },
      },
    ]);
  });
});
