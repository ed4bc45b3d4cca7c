import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import type { TestClient } from '../support/factory.js';
import { whileHeld } from '../support/held-rows.js';
import { type Answer, problemOf } from '../support/http.js';
import { PATIENT, useService } from '../support/test-service.js';

describe('With FOUR_EYES=true', () => {
  const service = useService({ instances: 2, databaseOptions: PATIENT, env: { FOUR_EYES: 'true' } });
  /** Two admins with a client each. */
  let [asking, approving]: UserEntity[] = [];
  let [first, second]: string[] = [];
  let user: UserEntity;

  beforeAll(async () => {
    asking = await service.make.user({ role: 'operator' });
    approving = await service.make.user({ role: 'operator' });
    first = await bearerOf(asking);
    second = await bearerOf(approving);
  });
  beforeEach(async () => (user = await service.make.user({ name: 'Dana Driver' })));

  const bearerOf = async (owner: UserEntity): Promise<string> =>
    service.make.clientToken(
      await service.make.client({
        ownerId: owner.id,
        scopes: ['admin:read', 'admin:write'],
        grantTypes: ['client_credentials'],
        redirectUris: [],
      }),
    );
  const send = (method: string, path: string, bearer: string, json?: object, instance = 0): Promise<Answer> =>
    service.instances[instance]!.http.send(path, { method, bearer, json });
  const erase = (id = user.id, bearer = first!) => send('DELETE', `/admin/users/${id}`, bearer);
  const makeAdmin = (id = user.id, bearer = first!) =>
    send('PATCH', `/admin/users/${id}`, bearer, { role: 'operator', operator_role: 'admin' });
  const decide = (what: 'approve' | 'reject', { json }: Answer, bearer = second!, instance = 0) =>
    send('POST', `/admin/approvals/${json.id as string}/${what}`, bearer, undefined, instance);
  const exists = async (id = user.id): Promise<boolean> =>
    (await send('GET', `/admin/users/${id}`, first!)).status === 200;
  const stateOf = async ({ json }: Answer) => {
    const list = await send('GET', '/admin/approvals?page_size=100', first!);
    return (list.json as unknown as Answer['json'][]).find(({ id }) => id === json.id)!;
  };
  const age = ({ json }: Answer) =>
    service.database.query("UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id = $1", [
      json.id,
    ]);
  const actions = (subject: unknown) =>
    service.database.column<string>(
      "SELECT action FROM audit_events WHERE subject_id = $1 AND action <> 'user.created' ORDER BY id",
      [subject],
    );

  describe('waits until a second admin approves:', () => {
    it('erasing a user', async () => {
      const asked = await erase();
      expect([asked.status, asked.json]).toEqual([
        202,
        {
          id: expect.stringMatching(/^appr/) as string,
          action: 'user.erase',
          subject_id: user.id,
          state: 'pending',
          requested_by: { type: 'client', id: expect.stringMatching(/^clnt/) as string },
          requested_at: expect.any(String) as string,
          expires_at: expect.any(String) as string,
          decided_by: null,
          decided_at: null,
        },
      ]);
      const days =
        (Date.parse(asked.json.expires_at as string) - Date.parse(asked.json.requested_at as string)) / 864e5;
      expect(days).toBe(7);
      expect(await exists()).toBe(true);
      const done = await decide('approve', asked);
      expect([done.status, done.json.state]).toEqual([200, 'approved']);
      expect(done.json.decided_by).not.toEqual(asked.json.requested_by);
      expect(await exists()).toBe(false);
      expect(await actions(user.id)).toEqual(['user.erased']);
      expect(await actions(asked.json.id)).toEqual(['approval.requested', 'approval.approved']);
    });

    it('making somebody an admin', async () => {
      const asked = await makeAdmin();
      expect([asked.status, asked.json.action]).toEqual([202, 'user.make_admin']);
      expect((await send('GET', `/admin/users/${user.id}`, first!)).json.role).toBe('user');
      expect((await decide('approve', asked)).status).toBe(200);
      expect((await send('GET', `/admin/users/${user.id}`, first!)).json.operator_role).toBe('admin');
      // For somebody who is an admin, nothing has to be approved.
      expect((await makeAdmin()).status).toBe(200);
      await send('PATCH', `/admin/users/${user.id}`, first!, { role: 'user' });
    });

    it('deleting a client', async () => {
      const client: TestClient = await service.make.client();
      const asked = await send('DELETE', `/admin/clients/${client.id}`, first!);
      expect([asked.status, asked.json.action, asked.json.subject_id]).toEqual([
        202,
        'client.delete',
        client.id,
      ]);
      expect((await send('GET', `/admin/clients/${client.id}`, first!)).status).toBe(200);
      expect((await decide('approve', asked)).status).toBe(200);
      expect((await send('GET', `/admin/clients/${client.id}`, first!)).status).toBe(404);
    });
  });

  it('does the rest at once: other roles, and lower ones', async () => {
    for (const json of [
      { role: 'operator', operator_role: 'support' },
      { operator_role: 'viewer' },
      { role: 'user' },
    ]) {
      expect((await send('PATCH', `/admin/users/${user.id}`, first!, json)).status).toBe(200);
    }
  });

  it.each([
    [
      'together with another change',
      (id: string) => ['PATCH', `/admin/users/${id}`, { role: 'operator', name: 'X' }],
    ],
    [
      'at its creation',
      () => ['POST', '/admin/users', { role: 'operator', email: 'new@mail.example', name: 'X' }],
    ],
  ] as const)('refuses to make an admin %s', async (_what, request) => {
    const [method, path, json] = request(user.id) as [string, string, object];
    const answer = await send(method, path, first!, json);
    expect(problemOf(answer)).toEqual([409, expect.stringContaining('A second admin approves')]);
    expect(await stateOfUser()).toEqual(['user', 'Dana Driver']);
  });
  const stateOfUser = async () => {
    const { json } = await send('GET', `/admin/users/${user.id}`, first!);
    return [json.role, json.name];
  };

  it('asks for nothing about what does not exist', async () => {
    for (const path of ['users/user01HN2NJ9NMRZBXT1H6FT9N7735', 'clients/clnt01HN2NJ9NMRZBXT1H6FT9N7735']) {
      expect((await send('DELETE', `/admin/${path}`, first!)).status).toBe(404);
    }
  });

  it('answers with the same approval when it is asked for again, by whomever, also at once', async () => {
    const answers = await Promise.all([
      erase(),
      erase(),
      erase(user.id, second),
      erase(),
      erase(user.id, second),
    ]);
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id as string}`)).size).toBe(1);
    const other = await makeAdmin();
    expect(other.json.id).not.toBe(answers[0]!.json.id);
    await decide('reject', other);
    await decide('reject', answers[0]!);
    expect((await erase()).json.id).not.toBe(answers[0]!.json.id);
  });

  describe('is not approved by the same person:', () => {
    it('the same client', async () => {
      const asked = await erase();
      const answer = await decide('approve', asked, first);
      expect(problemOf(answer)).toEqual([403, expect.stringContaining('You asked for this yourself')]);
      expect((await stateOf(asked)).state).toBe('pending');
      expect(await exists()).toBe(true);
    });

    it('another client of the same owner', async () => {
      expect((await decide('approve', await erase(), await bearerOf(asking!))).status).toBe(403);
    });

    it('the owner of the client in the console, and a client of who asked in the console', async () => {
      const browser = await service.make.signedIn(asking!);
      const asked = await erase();
      const path = `/admin/console/approvals/${asked.json.id as string}`;
      expect((await browser.open(path)).text).toContain('you cannot approve it');
      expect((await browser.open(path)).html.querySelector(`form[action="${path}/approve"]`)).toBeNull();
      const form = `/admin/console/users/${user.id}/make-operator`;
      const made = await browser.submit(await browser.open(form), form, { operator_role: 'admin' });
      const id = made.headers.get('location')!.split('/').at(-1)!;
      expect((await send('POST', `/admin/approvals/${id}/approve`, first!)).status).toBe(403);
      expect((await send('POST', `/admin/approvals/${id}/approve`, second!)).status).toBe(200);
      await send('PATCH', `/admin/users/${user.id}`, first!, { role: 'user' });
    });

    it('but rejected by it', async () => {
      const asked = await erase();
      const answer = await decide('reject', asked, first);
      expect([answer.status, answer.json.state, answer.json.decided_by]).toEqual([
        200,
        'rejected',
        asked.json.requested_by,
      ]);
      expect(await exists()).toBe(true);
      expect(await actions(asked.json.id)).toEqual(['approval.requested', 'approval.rejected']);
    });
  });

  it.each(['viewer', 'support'] as const)('is not decided by a %s', async (operatorRole) => {
    const bearer = await bearerOf(await service.make.user({ role: 'operator', operatorRole }));
    const asked = await erase();
    expect((await decide('approve', asked, bearer)).status).toBe(403);
    expect((await decide('reject', asked, bearer)).status).toBe(403);
    expect((await send('GET', '/admin/approvals', bearer)).status).toBe(200);
  });

  it('is not approved by somebody whose role is lowered at the same moment', async () => {
    const former = await service.make.user({ role: 'operator' });
    const bearer = await bearerOf(former);
    const asked = await erase();
    // The approval has passed the guard, and waits for the row of the approver, who is lowered before it goes on.
    const lowered = "UPDATE users SET operator_role = 'viewer' WHERE id = $1";
    const approve = () => decide('approve', asked, bearer);
    const [approved] = await whileHeld(service, [lowered, [former.id]], [approve], 'COMMIT');
    expect(problemOf(approved!)).toEqual([403, 'This requires the role admin.']);
    expect(await exists()).toBe(true);
    expect((await stateOf(asked)).state).toBe('pending');
  });

  describe('is decided once:', () => {
    const rowOf = ({ json }: Answer): [string, unknown[]] => [
      'SELECT 1 FROM approvals WHERE id = $1 FOR UPDATE',
      [json.id],
    ];

    it('two approvals at once, on two instances', async () => {
      const third = await bearerOf(await service.make.user({ role: 'operator' }));
      const asked = await erase();
      const answers = await Promise.all([decide('approve', asked), decide('approve', asked, third, 1)]);
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 409]);
      expect(await actions(user.id)).toEqual(['user.erased']);
    });

    it('approved and rejected at once, on two instances', async () => {
      for (let round = 0; round < 4; round++) {
        user = await service.make.user();
        const asked = await erase();
        const order = [() => decide('approve', asked), () => decide('reject', asked, first, 1)];
        const [one, other] = await Promise.all((round % 2 ? order.reverse() : order).map((each) => each()));
        expect([one!.status, other!.status].sort()).toEqual([200, 409]);
        const { state } = await stateOf(asked);
        expect(await exists()).toBe(state === 'rejected');
      }
    });

    it('approved while its row is held by another decision that is undone', async () => {
      const asked = await erase();
      const [answer] = await whileHeld(service, rowOf(asked), [() => decide('approve', asked)]);
      expect(answer!.status).toBe(200);
      expect(await exists()).toBe(false);
    });

    it.each(['approve', 'reject'] as const)(
      '%s of what is not pending is a 409 that says what it is',
      async (what) => {
        const asked = await erase();
        await decide('reject', asked);
        const answer = await decide(what, asked);
        expect(problemOf(answer)).toEqual([409, 'This is not pending: it is rejected.']);
        expect(await exists()).toBe(true);
      },
    );
  });

  it('expires after 7 days, by the clock of the database, and can be asked for again', async () => {
    const asked = await erase();
    await age(asked);
    expect((await stateOf(asked)).state).toBe('expired');
    for (const what of ['approve', 'reject'] as const) {
      const answer = await decide(what, asked);
      expect(problemOf(answer)).toEqual([409, 'This is not pending: it is expired.']);
    }
    expect(await exists()).toBe(true);
    const listed = async (state: string) =>
      (
        (await send('GET', `/admin/approvals?state=${state}&page_size=100`, first!)).json as unknown as {
          id: string;
        }[]
      ).some(({ id }) => id === asked.json.id);
    expect([await listed('expired'), await listed('pending')]).toEqual([true, false]);
    const again = await erase();
    expect(again.json.id).not.toBe(asked.json.id);
    expect((await stateOf(asked)).state).toBe('expired');
    expect((await decide('approve', again)).status).toBe(200);
  });

  describe('what became impossible is a 409 that says why, and stays pending:', () => {
    it('a user who owns a client by now', async () => {
      const asked = await erase();
      await service.make.client({ ownerId: user.id });
      const answer = await decide('approve', asked);
      expect(problemOf(answer)).toEqual([409, expect.stringContaining('owns clients')]);
      expect((await stateOf(asked)).state).toBe('pending');
      expect(await actions(asked.json.id)).toEqual(['approval.requested']);
    });

    it('a user who is gone', async () => {
      const asked = await makeAdmin();
      await decide('approve', await erase());
      const answer = await decide('approve', asked);
      expect(problemOf(answer)).toEqual([409, 'There is no user with this id. It may be gone: reject this.']);
      expect((await stateOf(asked)).state).toBe('pending');
      expect((await decide('reject', asked)).status).toBe(200);
    });

    it('the last admin', async () => {
      // Only the client of an organisation, which no role limits, is left to ask and to approve.
      const [one, other] = [await service.make.adminToken(), await service.make.adminToken()];
      await service.database.query("UPDATE users SET enabled = false WHERE operator_role = 'admin'");
      await service.database.query('UPDATE users SET enabled = true WHERE id = $1', [asking!.id]);
      const asked = await erase(asking!.id, one);
      const answer = await decide('approve', asked, other);
      await service.database.query("UPDATE users SET enabled = true WHERE operator_role = 'admin'");
      expect(problemOf(answer)).toEqual([409, expect.stringContaining('last enabled admin')]);
      await decide('reject', asked);
    });
  });

  it('knows no other approvals', async () => {
    for (const id of ['appr01HN2NJ9NMRZBXT1H6FT9N7735', 'nonsense']) {
      expect((await send('POST', `/admin/approvals/${id}/approve`, first!)).status).toBe(404);
    }
    expect((await send('GET', '/admin/approvals?state=done', first!)).status).toBe(400);
  });
});
