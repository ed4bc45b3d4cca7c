import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { changesRead } from '../support/changes-read.js';
import { type Answer, madeForEach, PATIENT, type TestClient, useSharedService } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';

const ADMIN_SCOPES = ['admin:read', 'admin:write'];

describe('A client with operator scopes', () => {
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT });
  const owner = madeForEach(() => service.make.user({ role: 'operator', operatorRole: 'viewer' }));
  const client = madeForEach(() => make(owner.id));
  let admin: string;
  let bearer: string;
  let counter = 0;

  beforeAll(async () => {
    const person = await service.make.user({ role: 'operator' });
    admin = await service.make.clientToken(await make(person.id));
  });
  beforeEach(async () => (bearer = await service.make.clientToken(client)));

  const make = (ownerId: string, scopes = ADMIN_SCOPES): Promise<TestClient> =>
    service.make.client({ ownerId, scopes, grantTypes: ['client_credentials'], redirectUris: [] });
  const send = (method: string, path: string, token: string, json?: object, instance = 0): Promise<Answer> =>
    service.instances[instance]!.http.send(path, { method, bearer: token, json });
  const members = (ownerId: string, more: object = {}) => ({
    name: `Robot ${++counter}`,
    type: 'confidential',
    grant_types: ['client_credentials'],
    scopes: ADMIN_SCOPES,
    owner_id: ownerId,
    ...more,
  });
  const tokenFor = ({ id, secret }: TestClient) =>
    service.http.token({ grant_type: 'client_credentials' }, { id, secret });
  const stateOf = async ({ id }: { id: string }) =>
    (await send('GET', `/admin/clients/${id}`, admin)).json as { enabled: boolean; company_service: boolean };

  describe('whose owner is no longer an operator', () => {
    beforeEach(async () => {
      expect((await send('PATCH', `/admin/users/${owner.id}`, bearer, { name: 'X' })).status).toBe(403);
      expect((await send('GET', '/admin/users', bearer, undefined, 1)).status).toBe(200);
      expect((await send('PATCH', `/admin/users/${owner.id}`, admin, { role: 'user' })).status).toBe(200);
    });

    it('is disabled in the same transaction, and its tokens end on all instances', async () => {
      const attempts: [string, string, object?][] = [
        ['GET', '/admin/users'],
        ['POST', '/admin/users', { email: `evil${++counter}@mail.example`, name: 'X', role: 'operator' }],
        ['PATCH', `/admin/users/${owner.id}`, { password: 'a password of mine' }],
        ['POST', '/admin/clients', members(owner.id)],
      ];
      // The other instance has read what changed.
      await changesRead(service);
      for (const instance of [0, 1]) {
        for (const [method, path, json] of attempts)
          expect((await send(method, path, bearer, json, instance)).status).toBe(401);
      }
      expect((await stateOf(client)).enabled).toBe(false);
      expect((await tokenFor(client)).json.error).toBe('invalid_client');
      const [event] = await service.database.query<{ before: object; after: object; actor_type: string }>(
        "SELECT actor_type, before, after FROM audit_events WHERE subject_id = $1 AND action = 'client.updated'",
        [client.id],
      );
      expect(event).toEqual({ actor_type: 'client', before: { enabled: true }, after: { enabled: false } });
    });

    it('is not enabled again until it is a company service or its owner an operator', async () => {
      const path = `/admin/clients/${client.id}`;
      const refused = await send('PATCH', path, admin, { enabled: true });
      expect([refused.status, Object.keys(refused.json.field_errors as object)]).toEqual([
        400,
        ['company_service'],
      ]);
      const browser = await service.make.signedIn(await service.make.user({ role: 'operator' }));
      const shown = `/admin/console/clients/${client.id}`;
      const page = await browser.submit(await browser.open(shown), `${shown}/enable`);
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('owner is not an operator')]);
      const marked = await send('PATCH', path, admin, { enabled: true, company_service: true });
      expect([marked.status, marked.json.company_service]).toEqual([200, true]);
      // What was issued before stays ended.
      expect((await send('GET', '/admin/users', bearer)).status).toBe(401);
      expect((await tokenFor(client)).status).toBe(200);
      expect((await send('PATCH', path, admin, { company_service: false })).status).toBe(400);
      expect((await send('PATCH', path, admin, { company_service: false, enabled: false })).status).toBe(200);
      await send('PATCH', `/admin/users/${owner.id}`, admin, { role: 'operator', operator_role: 'viewer' });
      expect((await send('PATCH', path, admin, { enabled: true })).status).toBe(200);
      const fresh = await service.make.clientToken(client);
      expect((await send('PATCH', `/admin/users/${owner.id}`, fresh, { name: 'X' })).status).toBe(403);
    });
  });

  it('may do what its owner may at this moment: a lower role applies to tokens from before', async () => {
    await send('PATCH', `/admin/users/${owner.id}`, admin, { operator_role: 'admin' });
    const driver = await service.make.user();
    expect((await send('PATCH', `/admin/users/${driver.id}`, bearer, { name: 'New' }, 1)).status).toBe(200);
    await send('PATCH', `/admin/users/${owner.id}`, admin, { operator_role: 'viewer' });
    expect((await send('PATCH', `/admin/users/${driver.id}`, bearer, { name: 'X' })).status).toBe(403);
    expect((await stateOf(client)).enabled).toBe(true);
  });

  it('gives no token that works after the role is gone, also while tokens are issued', async () => {
    const issuing = Array.from({ length: 4 }, () => tokenFor(client));
    const removed = send('PATCH', `/admin/users/${owner.id}`, admin, { role: 'user' }, 1);
    const later = Array.from({ length: 4 }, () => tokenFor(client));
    expect((await removed).status).toBe(200);
    const issued = (await Promise.all([...issuing, ...later])).filter(({ status }) => status === 200);
    const uses = issued.flatMap(({ json }) =>
      [0, 1].map((instance) => send('GET', '/admin/users', json.access_token as string, undefined, instance)),
    );
    // The other instance removed the role; this one knows it at its next read of the changes.
    await changesRead(service);
    await Promise.all(uses);
    for (const { json } of issued) {
      for (const instance of [0, 1]) {
        const answer = await send('GET', '/admin/users', json.access_token as string, undefined, instance);
        expect(answer.status).toBe(401);
      }
    }
  });

  it.each([
    ['in the admin API', 'admin:write'],
    ['of the data services', 'event:publish'],
  ])('%s is for an operator or a company service: otherwise it is not made', async (_what, scope) => {
    const user = await service.make.user({ kind: 'organisation' });
    const refused = await send('POST', '/admin/clients', admin, members(user.id, { scopes: [scope] }));
    expect([refused.status, refused.json.field_errors]).toEqual([
      400,
      { company_service: ['must be true for a client with operator scopes whose owner is not an operator'] },
    ]);
    const made = await send(
      'POST',
      '/admin/clients',
      admin,
      members(user.id, { scopes: [scope], company_service: true }),
    );
    expect([made.status, made.json.company_service]).toEqual([201, true]);
  });

  it('is not a company service without operator scopes', async () => {
    const more = { scopes: ['vehicle:read'], company_service: true };
    const refused = await send('POST', '/admin/clients', admin, members(owner.id, more));
    expect([refused.status, Object.keys(refused.json.field_errors as object)]).toEqual([
      400,
      ['company_service'],
    ]);
  });

  it('is not made for an owner who loses the role at the same moment', async () => {
    const lost = "UPDATE users SET role = 'user', operator_role = NULL WHERE id = $1";
    const create = () => send('POST', '/admin/clients', admin, members(owner.id));
    const [answer] = await whileHeld(service, [lost, [owner.id]], [create], 'COMMIT');
    expect(answer!.status).toBe(400);
  });

  it('that was made while the role was being removed is disabled by that', async () => {
    const held = 'SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE';
    const [made, removed] = await whileHeld(
      service,
      [held, [owner.id]],
      [
        () => send('POST', '/admin/clients', admin, members(owner.id)),
        () => send('PATCH', `/admin/users/${owner.id}`, admin, { role: 'user' }, 1),
      ],
    );
    expect(removed!.status).toBe(200);
    const [{ count }] = (await service.database.query<{ count: string }>(
      'SELECT count(*) FROM clients WHERE owner_id = $1 AND enabled',
      [owner.id],
    )) as [{ count: string }];
    expect([made!.status === 201 || made!.status === 400, count]).toEqual([true, '0']);
  });

  it.each([
    [
      'whose owner is nobody’s operator',
      "UPDATE users SET role = 'user', operator_role = NULL WHERE id = $1",
    ],
  ])('%s may do nothing, however that came about', async (_what, sql) => {
    await service.database.query(sql, [owner.id]);
    for (const instance of [0, 1])
      expect((await send('GET', '/admin/users', bearer, undefined, instance)).status).toBe(401);
    expect((await tokenFor(client)).json.error).toBe('invalid_client');
    const introspecting = await make((await service.make.user({ role: 'operator' })).id, [
      'token:introspect',
    ]);
    const introspect = () =>
      service.http.send('/o/introspect/', {
        form: { token: bearer },
        basic: { id: introspecting.id, secret: introspecting.secret },
      });
    expect((await introspect()).status).toBe(200);
    await service.database.query(sql, [introspecting.ownerId]);
    expect((await introspect()).status).toBe(401);
  });

  it('of an unmarked client keeps the least role in every check of the services', async () => {
    const users = service.app.get(UsersService);
    const protection = service.app.get(OperatorProtectionService);
    const target = await service.make.user({ role: 'operator' });
    for (const type of ['user', 'client'] as const) {
      const actor = { type, id: type === 'user' ? owner.id : client.id, ownerId: owner.id };
      await expect(protection.refuseOn(actor, target.id)).rejects.toMatchObject({ status: 403 });
      await expect(users.update(target.id, { name: 'X' }, actor)).rejects.toMatchObject({ status: 403 });
      await expect(
        users.create({ email: 'x@x.example', name: 'X', role: 'operator' }, actor),
      ).rejects.toMatchObject({ status: 403 });
    }
    await expect(protection.refuseOn(SERVICE_ACTOR, target.id)).resolves.toBeUndefined();
  });

  it('shows its mark in the console, where an admin gives it', async () => {
    const browser = await service.make.signedIn(await service.make.user({ role: 'operator' }));
    const organisation = await service.make.user({ kind: 'organisation' });
    const path = '/admin/console/clients/new';
    const fields = {
      name: `By console ${++counter}`,
      owner: organisation.id,
      grant_types: 'client_credentials',
      scopes: 'event:publish',
    };
    const refused = await browser.submit(await browser.open(path), path, fields);
    expect([refused.status, refused.html.querySelector('#company_service-error')?.text]).toEqual([
      400,
      expect.stringContaining('operator'),
    ]);
    const made = await browser.submit(refused, path, { ...fields, company_service: 'true' });
    expect(made.status).toBe(303);
    const id = /clnt\w+/.exec(made.headers.get('location')!)![0];
    expect((await browser.open(`/admin/console/clients/${id}`)).text).toContain('Company service');
  });
});
