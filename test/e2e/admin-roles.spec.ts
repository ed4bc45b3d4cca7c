import type { OperatorRole } from '#platform/config/operator-role.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { changesRead } from '../support/changes-read.js';
import { madeOnce, problemOf, rowCounts, useSharedService } from '../support/spec.js';
import { committedDocument } from '../support/openapi-document.js';
import { listOf } from '../support/list-of.js';

/** What support may change; everything else is for admins. */
const OF_SUPPORT = listOf(`
  createPasswordLink, createUser, raiseNotification, recordConsent, resendDelivery, resetSecondFactor,
  revokeClientTokens, revokeConsent, revokeGrant, revokeUserTokens, updateUser
`);

type Described = Record<string, { operationId: string; security: { oauth2: string[] }[] }>;
const OPERATIONS = Object.entries(committedDocument.paths)
  .filter(([path]) => path.startsWith('/admin/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods as unknown as Described).map(([method, { operationId, security }]) => {
      const scope = security[0]!.oauth2[0]!;
      return { method: method.toUpperCase(), path, operationId, scope, reads: scope === 'admin:read' };
    }),
  );
type Operation = (typeof OPERATIONS)[number];
const WRITES = OPERATIONS.filter(({ reads }) => !reads);
/** Only a person approves, and no client. */
const ADMITTED = WRITES.filter(({ operationId }) => operationId !== 'approve');

describe('In the admin API, the role of an operator limits the clients that the operator owns:', () => {
  const service = useSharedService({ instances: 2 });
  const bearers = {} as Record<OperatorRole, string>;
  const owners = {} as Record<OperatorRole, UserEntity>;

  const operatorClient = (owner: UserEntity) =>
    service.make.operatorClient(['admin:read', 'admin:write'], owner);

  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));
  const OTHERS = ['event:publish', 'token:introspect', 'vehicle:read'];
  /** With each scope alone, and with all others. */
  const tokens = madeOnce(async () => ({
    'admin:read': await service.make.adminToken(['admin:read']),
    'admin:write': await service.make.adminToken(['admin:write']),
    'all but admin:read': await service.make.adminToken(['admin:write', ...OTHERS]),
    'all but admin:write': await service.make.adminToken(['admin:read', ...OTHERS]),
  }));
  const driver = madeOnce(() => service.make.user({ name: 'Dana Driver' }));
  beforeAll(async () => {
    await service.make.user({ role: 'operator' });
    for (const operatorRole of ['viewer', 'support', 'admin'] as const) {
      owners[operatorRole] = await service.make.user({ role: 'operator', operatorRole });
      bearers[operatorRole] = await service.make.clientToken(await operatorClient(owners[operatorRole]));
    }
  });

  /** Fills the path with ids of nothing, so that nothing is changed by what is admitted. */
  const send = ({ method, path }: Operation, bearer: string) =>
    service.http.send(
      path.replace(/\{(\w+)\}/g, (_all, name: string) =>
        name === 'name' ? 'no:such' : `${ID_PREFIX[name] ?? prefixIn(path)}01HN2NJ9NMRZBXT1H6FT9N7735`,
      ),
      { method, bearer, ...(['POST', 'PUT', 'PATCH'].includes(method) ? { json: { unknown: 1 } } : {}) },
    );
  const ID_PREFIX: Record<string, string> = { client_id: 'clnt', user_id: 'user' };
  const prefixIn = (path: string) =>
    ({ users: 'user', grants: 'grnt', deliveries: 'dlvr', webhook_endpoints: 'endp', approvals: 'appr' })[
      path.split('/')[2]!
    ]!;

  it('every operation is tested here', () => {
    expect(OPERATIONS.length).toBeGreaterThan(35);
    expect(WRITES.map(({ operationId }) => operationId)).toEqual(expect.arrayContaining(OF_SUPPORT));
  });

  it.each(OPERATIONS)('$method $path needs a token with the scope $scope', async (operation) => {
    const scope = operation.scope as 'admin:read' | 'admin:write';
    expect((await send(operation, '')).status).toBe(401);
    expect((await send(operation, tokens[`all but ${scope}`])).status).toBe(403);
    // A service of the company is limited by its scopes only.
    const { status } = await send(operation, tokens[scope]);
    expect(status === 403).toBe(operation.operationId === 'approve');
  });

  it.each(OPERATIONS.filter(({ reads }) => reads))(
    'a viewer and support may read: $method $path',
    async (operation) => {
      for (const role of ['viewer', 'support'] as const)
        expect([200, 404]).toContain((await send(operation, bearers[role])).status);
    },
  );

  describe('a viewer is refused', () => {
    let before: Record<string, number>;
    beforeAll(async () => void (before = await rowCounts(service)));

    it.each(WRITES)('$method $path', async (operation) => {
      const answer = await send(operation, bearers.viewer);
      const least = OF_SUPPORT.includes(operation.operationId) ? 'support' : 'admin';
      expect(problemOf(answer)).toEqual([
        403,
        `This requires the role ${least}. The owner of the client is an operator with the role viewer.`,
      ]);
    });

    it('and nothing has changed by all of that', async () =>
      expect(await rowCounts(service)).toEqual(before));
  });

  it.each(WRITES)('support is admitted to $method $path or refused, as the list says', async (operation) => {
    const { status } = await send(operation, bearers.support);
    const isRefused = status === 403;
    expect(isRefused).toBe(!OF_SUPPORT.includes(operation.operationId));
  });

  it.each(ADMITTED)('an admin is admitted to $method $path', async (operation) => {
    expect((await send(operation, bearers.admin)).status).not.toBe(403);
  });

  it('a change of the role takes effect at once, for tokens that were issued before, on every instance', async () => {
    const owner = await service.make.user({ role: 'operator', operatorRole: 'admin' });
    const bearer = await service.make.clientToken(await operatorClient(owner));
    const attempt = async () =>
      Promise.all(
        service.instances.map(
          async ({ http }) =>
            (await http.send(`/admin/clients/${client.id}`, { method: 'PATCH', bearer, json: {} })).status,
        ),
      );
    expect(await attempt()).toEqual([200, 200]);
    const change = (operator_role: string) =>
      service.http.send(`/admin/users/${owner.id}`, {
        method: 'PATCH',
        bearer: bearers.admin,
        json: { operator_role },
      });
    expect((await change('viewer')).status).toBe(200);
    // At most 100 ms later on other instances (docs/decisions/0006).
    await changesRead(service);
    expect(await attempt()).toEqual([403, 403]);
    expect((await change('admin')).status).toBe(200);
    await changesRead(service);
    expect(await attempt()).toEqual([200, 200]);
  });

  it('refusals are counted for the client, with their reason', async () => {
    const owner = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
    const limited = await operatorClient(owner);
    const bearer = await service.make.clientToken(limited);
    await service.http.send('/admin/clients', { bearer, json: {} });
    const browser = await service.make.signedIn(owners.viewer);
    const page = await browser.open(`/admin/console/clients/${limited.id}/refusals`);
    expect(page.text).toContain('Role too low');
  });

  describe('support', () => {
    const as = (bearer: string, method: string, path: string, json?: object) =>
      service.http.send(path, { method, bearer, json });

    it('creates and edits users, links them and raises notifications', async () => {
      const made = await as(bearers.support, 'POST', '/admin/users', {
        email: 'nora@roles.example',
        name: 'Nora',
      });
      expect([made.status, made.json.role, made.json.operator_role]).toEqual([201, 'user', null]);
      const path = `/admin/users/${made.json.id as string}`;
      const edited = await as(bearers.support, 'PATCH', path, {
        name: 'Nora N',
        email: 'nora2@roles.example',
        language: 'de',
      });
      expect([edited.status, edited.json.email, edited.json.language]).toEqual([
        200,
        'nora2@roles.example',
        'de',
      ]);
      const more = await as(bearers.support, 'PATCH', path, { language: 'fr', webhooks_enabled: false });
      expect(problemOf(more)).toEqual([403, expect.stringContaining('email, name, language and kind')]);
      for (const enabled of [false, true])
        expect((await as(bearers.support, 'PATCH', path, { enabled })).status).toBe(200);
      expect((await as(bearers.support, 'POST', `${path}/password_links`)).status).toBe(201);
      expect((await as(bearers.support, 'POST', `${path}/revoke_tokens`)).status).toBe(200);
      const consent = `/admin/clients/${client.id}/consents/${made.json.id as string}`;
      expect((await as(bearers.support, 'PUT', consent, { scopes: ['vehicle:read'] })).status).toBe(200);
      expect((await as(bearers.support, 'DELETE', consent)).status).toBe(204);
      const notification = { ...NOTIFICATION, user_id: made.json.id as string };
      expect((await as(bearers.support, 'POST', '/admin/notifications', notification)).status).toBe(201);
    });

    it.each([
      ['a role', { role: 'operator' }],
      ['a role by its name', { role: 'operator', operator_role: 'viewer' }],
      ['a password', { password: 'a password of support' }],
      ['the webhook portal', { webhooks_enabled: false }],
    ])('gives nobody %s', async (_what, changes) => {
      const answer = await as(bearers.support, 'PATCH', `/admin/users/${driver.id}`, changes);
      expect(problemOf(answer)).toEqual([403, expect.stringContaining('requires the role admin')]);
      const same = await as(bearers.admin, 'GET', `/admin/users/${driver.id}`);
      expect(same.json).toMatchObject({ role: 'user', operator_role: null, webhooks_enabled: true });
    });

    it('creates no operator', async () => {
      const json = { email: 'op@roles.example', name: 'Op', role: 'operator' };
      expect((await as(bearers.support, 'POST', '/admin/users', json)).status).toBe(403);
    });

    it('does not act on operators, whatever their role, nor on itself', async () => {
      const consented = await service.make.user();
      await service.make.consent(client, consented);
      await service.make.tokens(client, consented);
      await as(bearers.admin, 'PATCH', `/admin/users/${consented.id}`, {
        role: 'operator',
        operator_role: 'viewer',
      });
      const [grant] = await service.database.query<{ id: string }>(
        'SELECT id FROM grants WHERE user_id = $1',
        [consented.id],
      );
      for (const { id } of [consented, owners.viewer, owners.support, owners.admin]) {
        const path = `/admin/users/${id}`;
        const consent = `/admin/clients/${client.id}/consents/${id}`;
        const attempts: [string, string, object?][] = [
          ['PATCH', path, { name: 'Other' }],
          ['PATCH', path, { email: 'taken-over@roles.example' }],
          ['PATCH', path, { enabled: false }],
          ['PATCH', path, { role: 'user' }],
          ['POST', `${path}/password_links`],
          ['POST', `${path}/revoke_tokens`],
          ['PUT', consent, { scopes: ['vehicle:read'] }],
          ['DELETE', consent],
          ['POST', '/admin/notifications', { ...NOTIFICATION, user_id: id }],
        ];
        const before = await rowCounts(service);
        for (const [method, at, json] of attempts) {
          const answer = await as(bearers.support, method, at, json);
          expect([method, at, answer.status, answer.json?.detail]).toEqual([
            method,
            at,
            403,
            'This user is an operator. This requires the role admin.',
          ]);
        }
        expect(await rowCounts(service)).toEqual(before);
      }
      expect((await as(bearers.support, 'DELETE', `/admin/grants/${grant!.id}`)).status).toBe(403);
      expect((await as(bearers.admin, 'DELETE', `/admin/grants/${grant!.id}`)).status).toBe(204);
    });
  });
});

const NOTIFICATION = {
  message_id: 'ERR1',
  category: 'SERVICE',
  short_text_title: 'Title',
  short_text_body: 'Body',
};
