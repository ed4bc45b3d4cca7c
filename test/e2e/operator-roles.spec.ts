import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { auditEventsOn } from '../support/audit-events.js';
import { type Answer, BrowserSession, type Page, PATIENT, useSharedService } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';

const LAST = 'This is the last enabled admin. Make someone else an admin first.';

describe('The role of an operator', () => {
  // Operators that other files have made are none any more.
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT });
  let bearer: string;
  let admin: UserEntity;

  beforeAll(async () => (bearer = await service.make.adminToken()));
  beforeEach(async () => {
    await service.database.query("UPDATE users SET role = 'user' WHERE role = 'operator'");
    admin = await service.make.user({ role: 'operator' });
  });

  const send = (method: string, path: string, json?: object, instance = 0): Promise<Answer> =>
    service.instances[instance]!.http.send(path, { method, bearer, json });
  const patch = (id: string, json: object, instance = 0) =>
    send('PATCH', `/admin/users/${id}`, json, instance);
  const rolesOf = ({ json, status }: Answer) => [status, json.role as unknown, json.operator_role as unknown];
  const enabledAdmins = async (): Promise<string[]> => {
    const sql = "SELECT id FROM users WHERE operator_role = 'admin' AND enabled ORDER BY id";
    return (await service.database.query<{ id: string }>(sql)).map(({ id }) => id);
  };

  describe('in the admin API', () => {
    let n = 0;
    const create = (members: object) =>
      send('POST', '/admin/users', { email: `made${++n}@mail.example`, name: 'Made', ...members });

    it.each([
      ['a user', {}, [201, 'user', null]],
      ['an operator without a role is an admin', { role: 'operator' }, [201, 'operator', 'admin']],
      ['a viewer', { role: 'operator', operator_role: 'viewer' }, [201, 'operator', 'viewer']],
      ['support', { role: 'operator', operator_role: 'support' }, [201, 'operator', 'support']],
    ])('is created: %s', async (_what, members, expected) => {
      const made = await create(members);
      expect(rolesOf(made)).toEqual(expected);
      expect(rolesOf(await send('GET', `/admin/users/${made.json.id as string}`))).toEqual([
        200,
        ...expected.slice(1),
      ]);
    });

    it('is changed: from user to operator and back, and from one role to another', async () => {
      const { id } = await service.make.user();
      const steps: [object, unknown[]][] = [
        [{ role: 'operator' }, ['operator', 'admin']],
        [{ operator_role: 'viewer' }, ['operator', 'viewer']],
        // Who is an operator already keeps the role: nobody becomes an admin by the way.
        [{ role: 'operator' }, ['operator', 'viewer']],
        [{ role: 'operator', operator_role: 'support' }, ['operator', 'support']],
        [{ role: 'user' }, ['user', null]],
      ];
      for (const [json, expected] of steps)
        expect(rolesOf(await patch(id, json))).toEqual([200, ...expected]);
    });

    it.each([
      ['of a user who is no operator', { operator_role: 'viewer' }],
      ['with the role user', { role: 'user', operator_role: 'viewer' }],
    ])('is refused %s', async (_what, json) => {
      const { id } = await service.make.user();
      for (const answer of [await patch(id, json), await create(json)]) {
        expect([answer.status, answer.json.field_errors]).toEqual([
          400,
          { operator_role: ['is only for users with the role operator'] },
        ]);
      }
    });

    it('is one of three', async () => {
      const answer = await patch(admin.id, { operator_role: 'owner' });
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([
        400,
        ['operator_role'],
      ]);
    });

    it('filters the list of users', async () => {
      const viewer = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
      const { json } = await send('GET', '/admin/users?operator_role=viewer');
      expect((json as unknown as { id: string }[]).map(({ id }) => id)).toEqual([viewer.id]);
    });
  });

  it('ends the sessions and the password links of the user when it changes, and the user is told', async () => {
    const user = await service.make.user({ role: 'operator', operatorRole: 'viewer' });
    const browser = await service.make.signedIn(user);
    const link = (await send('POST', `/admin/users/${user.id}/password_links`)).json.url as string;
    expect((await patch(user.id, { operator_role: 'support' })).status).toBe(200);
    expect((await browser.open('/admin/console')).status).toBe(302);
    expect((await new BrowserSession(service.url).open(new URL(link).pathname)).status).toBe(410);
    const told = await send('GET', `/admin/notifications?user_id=${user.id}`);
    expect(told.text).toContain('You are an operator with the role support now.');
    const [event] = await auditEventsOn(service, user.id, 'user.updated');
    expect([event!.before, event!.after]).toEqual([
      { operator_role: 'viewer' },
      { operator_role: 'support' },
    ]);
    await patch(user.id, { role: 'user' });
    expect((await send('GET', `/admin/notifications?user_id=${user.id}`)).text).toContain(
      'no longer an operator',
    );
  });

  it('that stays the same ends nothing', async () => {
    const browser = await service.make.signedIn(admin);
    await patch(admin.id, { role: 'operator', operator_role: 'admin', name: 'Another name' });
    expect((await browser.open('/admin/console')).status).toBe(200);
  });

  it('is admin for operators that a build without roles makes', async () => {
    const { id } = await service.make.user();
    await service.database.query("UPDATE users SET role = 'operator' WHERE id = $1", [id]);
    expect(rolesOf(await send('GET', `/admin/users/${id}`))).toEqual([200, 'operator', 'admin']);
    await service.database.query("UPDATE users SET role = 'user' WHERE id = $1", [id]);
    expect(rolesOf(await send('GET', `/admin/users/${id}`))).toEqual([200, 'user', null]);
  });

  describe('of the last enabled admin', () => {
    it.each([
      ['PATCH', { role: 'user' }],
      ['PATCH', { operator_role: 'support' }],
      ['PATCH', { enabled: false }],
      ['DELETE', undefined],
    ])('stays: %s %j is a 409', async (method, json) => {
      await service.make.user({ role: 'operator', operatorRole: 'support' });
      const disabled = await service.make.user({ role: 'operator' });
      expect((await patch(disabled.id, { enabled: false })).status).toBe(200);
      const answer = await send(method, `/admin/users/${admin.id}`, json);
      expect([answer.status, answer.json.detail]).toEqual([409, LAST]);
      expect(await enabledAdmins()).toEqual([admin.id]);
      // The disabled admin is not the last one.
      expect((await send('DELETE', `/admin/users/${disabled.id}`)).status).toBe(204);
    });

    it.each([
      ['give each other a lower role', 'PATCH', { operator_role: 'viewer' }],
      ['disable each other', 'PATCH', { enabled: false }],
      ['make each other ordinary users', 'PATCH', { role: 'user' }],
      ['erase each other', 'DELETE', undefined],
    ])('stays when two admins %s at once, on two instances', async (_what, method, json) => {
      const other = await service.make.user({ role: 'operator' });
      const first = admin.id < other.id ? admin.id : other.id;
      const both = [admin, other].map(
        ({ id }, n) =>
          () =>
            send(method, `/admin/users/${id}`, json, n),
      );
      const answers = await whileHeld(
        service,
        ['SELECT 1 FROM users WHERE id = $1 FOR UPDATE', [first]],
        both,
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([method === 'DELETE' ? 204 : 200, 409]);
      expect(await enabledAdmins()).toHaveLength(1);
    });

    it('stays when many admins are lowered at once', async () => {
      const admins = [admin];
      while (admins.length < 6) admins.push(await service.make.user({ role: 'operator' }));
      const answers = await Promise.all(
        admins.map(({ id }, n) => patch(id, n % 2 ? { enabled: false } : { role: 'user' }, n % 2)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 409]);
      expect(await enabledAdmins()).toHaveLength(1);
    });

    it('may be given up once there is another', async () => {
      await service.make.user({ role: 'operator' });
      expect((await patch(admin.id, { role: 'user' })).status).toBe(200);
    });
  });

  describe('in the console', () => {
    it('is chosen when someone becomes an operator, shown, and changed', async () => {
      const user = await service.make.user({ name: 'Nina New' });
      const browser = await service.make.signedIn(admin);
      const path = `/admin/console/users/${user.id}`;
      const roleOn = ({ html }: Page) =>
        html.querySelector('input[name="operator_role"][checked]')!.getAttribute('value');
      const chosen = await browser.open(`${path}/make-operator`);
      expect(roleOn(chosen)).toBe('viewer');
      const made = await browser.submit(chosen, `${path}/make-operator`, { operator_role: 'support' });
      expect([made.status, made.headers.get('location')]).toEqual([303, path]);
      expect((await browser.open(path)).text).toContain('operator: support');
      const again = await browser.open(`${path}/make-operator`);
      expect(roleOn(again)).toBe('support');
      const wrong = await browser.submit(again, `${path}/make-operator`, { operator_role: '' });
      expect([wrong.status, wrong.html.querySelector('#operator_role-error')!.text]).toEqual([
        400,
        'Choose one of these.',
      ]);
      const list = await browser.open('/admin/console/users?operator_role=support');
      expect(list.html.querySelectorAll('tbody tr').map((row) => row.text.includes('Nina New'))).toEqual([
        true,
      ]);
    });

    it('of the last admin stays, and the page says why', async () => {
      const browser = await service.make.signedIn(admin);
      for (const part of ['remove-operator', 'disable', 'erase']) {
        const answer = await browser.fillIn(`/admin/console/users/${admin.id}/${part}`);
        expect([part, answer.status]).toEqual([part, 409]);
        expect(answer.html.querySelector('[role="alert"]')!.text).toContain(LAST);
      }
    });

    it('support helps users with its forms, and keeps what it may not change', async () => {
      const support = await service.make.user({ role: 'operator', operatorRole: 'support' });
      const user = await service.make.user();
      await service.app.get(UsersService).update(user.id, { webhooksEnabled: false }, SERVICE_ACTOR);
      const browser = await service.make.signedIn(support);
      const path = `/admin/console/users/${user.id}`;
      const form = await browser.open(`${path}/edit`);
      expect(form.html.querySelector('[name="webhooks_enabled"]')).toBeNull();
      expect((await browser.submit(form, `${path}/edit`, { name: 'Better Name' })).status).toBe(303);
      expect((await send('GET', `/admin/users/${user.id}`)).json).toMatchObject({
        name: 'Better Name',
        webhooks_enabled: false,
      });
      expect((await browser.submit(form, `${path}/edit`, { webhooks_enabled: 'true' })).status).toBe(303);
      expect((await send('GET', `/admin/users/${user.id}`)).json.webhooks_enabled).toBe(false);
      const made = { email: 'by-support@mail.example', name: 'By Support' };
      expect((await browser.fillIn('/admin/console/users/new', made)).status).toBe(303);
    });

    it('support whose form was open before the user became an operator is refused', async () => {
      const support = await service.make.user({ role: 'operator', operatorRole: 'support' });
      const user = await service.make.user();
      const browser = await service.make.signedIn(support);
      const path = `/admin/console/users/${user.id}`;
      const forms = await Promise.all(
        ['edit', 'disable', 'revoke'].map((part) => browser.open(`${path}/${part}`)),
      );
      const page = await browser.open(path);
      const note = await browser.open(`/admin/console/notifications/new?user_id=${user.id}`);
      await patch(user.id, { role: 'operator', operator_role: 'viewer' });
      const text = { message_id: 'ERR1', short_text_title: 'T', short_text_body: 'B' };
      const answers = [
        await browser.submit(forms[0]!, `${path}/edit`, { email: 'taken@mail.example' }),
        await browser.submit(forms[1]!, `${path}/disable`),
        await browser.submit(forms[2]!, `${path}/revoke`),
        await browser.submit(page, `${path}/password-link`),
        await browser.submit(note, '/admin/console/notifications/new', text),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      for (const { text } of answers) expect(text).toContain('This user is an operator');
    });
  });
});
