import type { UserEntity } from '#access/users/accounts/user.entity.js';
import {
  decide as decideInConsole,
  makeAdmin as makeAnAdmin,
  type AdminInPerson,
} from '../support/admins.js';
import { postedAnew, type Page } from '../support/browser-session.js';
import { CONSOLE } from '../support/console.js';
import { type Answer, madeOnce, PATIENT, type TestClient, useService, wordsOf } from '../support/spec.js';
import { whileHeld } from '../support/held-rows.js';

describe('With FOUR_EYES=true', () => {
  const service = useService({ databaseOptions: PATIENT, env: { FOUR_EYES: 'true' } });
  /** Two admins with a client each. */
  let [asking, approving]: AdminInPerson[] = [];
  let [first, second]: string[] = [];
  let user: UserEntity;

  beforeAll(async () => {
    asking = await makeAnAdmin(service, 'Anna');
    approving = await makeAnAdmin(service, 'Ben');
    [first, second] = [asking.bearer, approving.bearer];
  });
  beforeEach(async () => {
    await service.database.query('DELETE FROM approvals');
    user = await service.make.user({ name: 'Dana Driver' });
  });

  const send = (method: string, path: string, bearer: string, json?: object): Promise<Answer> =>
    service.http.send(path, { method, bearer, json });
  /** Asks for it in the console, as a person. */
  const ask = async (path: string, fields = {}, by = asking!): Promise<{ json: Answer['json'] }> => {
    const asked = await by.browser.submit(await by.browser.open(path), path, fields);
    const id = /appr\w{26}/.exec(asked.headers.get('location') ?? '')?.[0];
    if (!id) throw new Error(`not asked: ${asked.status} ${asked.html.text}`);
    return { json: await stateOf({ json: { id } }) };
  };
  const erase = (id = user.id, by = asking!) => ask(`/admin/console/users/${id}/erase`, {}, by);
  const eraseByClient = (id = user.id, bearer = first!) => send('DELETE', `/admin/users/${id}`, bearer);
  const makeAdmin = (id = user.id) =>
    ask(`/admin/console/users/${id}/make-operator`, { operator_role: 'admin' });
  const decide = async (
    what: 'approve' | 'reject',
    { json }: { json: Answer['json'] },
    by = approving!,
  ): Promise<{ status: number; json: Answer['json'] }> => {
    const { status, said } = await decideInConsole(by, json.id, what);
    return { status, json: { ...(await stateOf({ json })), detail: said } };
  };
  const exists = async (id = user.id): Promise<boolean> =>
    (await send('GET', `/admin/users/${id}`, first!)).status === 200;
  const stateOf = async ({ json }: { json: Answer['json'] }) => {
    const list = await send('GET', '/admin/approvals?page_size=100', first!);
    return (list.json as unknown as Answer['json'][]).find(({ id }) => id === json.id)!;
  };
  const age = ({ json }: { json: Answer['json'] }) =>
    service.database.query("UPDATE approvals SET expires_at = now() - interval '1 second' WHERE id = $1", [
      json.id,
    ]);
  const actions = async (subject: unknown): Promise<string[]> =>
    (
      await service.database.query<{ action: string }>(
        "SELECT action FROM audit_events WHERE subject_id = $1 AND action <> 'user.created' ORDER BY id",
        [subject],
      )
    ).map(({ action }) => action);

  describe('waits until a second admin approves:', () => {
    it('erasing a user', async () => {
      const asked = await eraseByClient();
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
          details: {},
          seconded_by: null,
          decided_by: null,
          decided_at: null,
        },
      ]);
      const days =
        (Date.parse(asked.json.expires_at as string) - Date.parse(asked.json.requested_at as string)) / 864e5;
      expect(days).toBe(7);
      expect(await exists()).toBe(true);
      const seconded = await decide('approve', asked, asking);
      expect([seconded.json.state, seconded.json.seconded_by]).toEqual([
        'pending',
        { type: 'user', id: asking!.user.id },
      ]);
      expect(await exists()).toBe(true);
      const done = await decide('approve', asked);
      expect([done.status, done.json.state]).toEqual([200, 'approved']);
      expect(done.json.decided_by).toEqual({ type: 'user', id: approving!.user.id });
      expect(await exists()).toBe(false);
      expect(await actions(user.id)).toEqual(['user.erased']);
      expect(await actions(asked.json.id)).toEqual([
        'approval.requested',
        'approval.seconded',
        'approval.approved',
      ]);
    });

    it('making someone an admin', async () => {
      const asked = await makeAdmin();
      expect([asked.json.action, asked.json.details]).toEqual(['user.make_admin', { email: user.email }]);
      expect((await send('GET', `/admin/users/${user.id}`, first!)).json.role).toBe('user');
      expect((await decide('approve', asked)).status).toBe(200);
      expect((await send('GET', `/admin/users/${user.id}`, first!)).json.operator_role).toBe('admin');
      // For someone who is an admin, nothing has to be approved.
      const same = { role: 'operator', operator_role: 'admin' };
      expect((await send('PATCH', `/admin/users/${user.id}`, first!, same)).status).toBe(200);
      await service.make.setRole(user, { role: 'user' });
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
      expect((await decide('approve', asked, asking)).status).toBe(200);
      expect((await decide('approve', asked)).status).toBe(200);
      expect((await send('GET', `/admin/clients/${client.id}`, first!)).status).toBe(404);
    });
  });

  it('gives a user another role than admin at once', async () => {
    const json = { role: 'operator', operator_role: 'support' };
    expect((await send('PATCH', `/admin/users/${user.id}`, first!, json)).status).toBe(200);
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
    expect([answer.status, answer.json.detail]).toEqual([
      409,
      expect.stringContaining('A second admin approves'),
    ]);
    expect(await stateOfUser()).toEqual(['user', 'Dana Driver']);
  });
  const stateOfUser = async () => {
    const { json } = await send('GET', `/admin/users/${user.id}`, first!);
    return [json.role, json.name];
  };

  it('asks for nothing about what does not exist', async () => {
    for (const path of ['users/user01HN2NJ9NMRZBXT1H6FT9N7735', 'clients/clnt01HN2NJ9NMRZBXT1H6FT9N7735'])
      expect((await send('DELETE', `/admin/${path}`, first!)).status).toBe(404);
  });

  it('answers with the same approval when the same password is asked for again, and refuses another', async () => {
    const other = await service.make.user({ role: 'operator' });
    const set = (password: string) => send('PATCH', `/admin/users/${other.id}`, first!, { password });
    const [asked, again] = [await set('a long new password'), await set('a long new password')];
    expect([asked.status, again.status, again.json.id]).toEqual([202, 202, asked.json.id]);
    expect((await set('another long password')).status).toBe(409);
    await decide('reject', asked);
  });

  it('answers with the same approval when it is asked for again, by whomever, also at once', async () => {
    const answers = await Promise.all([
      eraseByClient(),
      eraseByClient(),
      eraseByClient(user.id, second),
      eraseByClient(),
      eraseByClient(user.id, second),
    ]);
    expect(new Set(answers.map(({ status, json }) => `${status} ${json.id as string}`)).size).toBe(1);
    const other = await makeAdmin();
    expect(other.json.id).not.toBe(answers[0]!.json.id);
    await decide('reject', other);
    await decide('reject', answers[0]!);
    expect((await erase()).json.id).not.toBe(answers[0]!.json.id);
  });

  describe('is not approved by the same person,', () => {
    it('to whom the console offers no button', async () => {
      const answer = await decide('approve', await erase(), asking);
      expect([answer.status, answer.json.detail]).toEqual([
        403,
        expect.stringContaining('You asked for this yourself'),
      ]);
      expect(answer.json.state).toBe('pending');
      expect(await exists()).toBe(true);
    });

    it('but rejected by it', async () => {
      const asked = await erase();
      const answer = await decide('reject', asked, asking);
      expect([answer.status, answer.json.state, answer.json.decided_by]).toEqual([
        200,
        'rejected',
        asked.json.requested_by,
      ]);
      expect(answer.json.detail).toBe('Rejected. Nothing was done.');
      expect(await exists()).toBe(true);
      expect(await actions(asked.json.id)).toEqual(['approval.requested', 'approval.rejected']);
    });
  });

  it('is not approved by someone whose role is lowered at the same moment', async () => {
    const former = await makeAnAdmin(service);
    const asked = await erase();
    // The approval has passed the guard, and waits for the row of the approver, who is lowered before it goes on.
    const lowered = "UPDATE users SET operator_role = 'viewer' WHERE id = $1";
    const approve = () => decide('approve', asked, former);
    const [approved] = await whileHeld(service, [lowered, [former.user.id]], [approve], 'COMMIT');
    expect([approved!.status, approved!.json.detail]).toEqual([
      403,
      expect.stringContaining('This requires the role admin.'),
    ]);
    expect(await exists()).toBe(true);
    expect((await stateOf(asked)).state).toBe('pending');
  });

  describe('is decided once:', () => {
    const third = madeOnce(() => makeAnAdmin(service));
    const rowOf = ({ json }: { json: Answer['json'] }): [string, unknown[]] => [
      'SELECT 1 FROM approvals WHERE id = $1 FOR UPDATE',
      [json.id],
    ];

    it('two approvals at once', async () => {
      const asked = await erase();
      const answers = await whileHeld(service, rowOf(asked), [
        () => decide('approve', asked),
        () => decide('approve', asked, third),
      ]);
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([200, 409]);
      expect(await actions(user.id)).toEqual(['user.erased']);
    });

    it('approved and rejected at once', async () => {
      for (let round = 0; round < 2; round++) {
        user = await service.make.user();
        const asked = await erase();
        const order = [() => decide('approve', asked), () => decide('reject', asked, asking)];
        const [one, other] = await whileHeld(service, rowOf(asked), round % 2 ? order.reverse() : order);
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

    it('stood behind once, when two persons approve what a client asked for at once', async () => {
      const asked = await eraseByClient();
      const answers = await whileHeld(service, rowOf(asked), [
        () => decide('approve', asked),
        () => decide('approve', asked, third),
      ]);
      // The first stands behind it, and the second carries it out.
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await actions(asked.json.id)).toEqual([
        'approval.requested',
        'approval.seconded',
        'approval.approved',
      ]);
    });

    it.each([
      ['approve', 'reject', 'rejected'],
      ['reject', 'reject', 'rejected'],
      ['approve', 'approve', 'approved'],
    ] as const)(
      '%s is a 409 that says what it is after another %s in the meantime',
      async (what, before, state) => {
        const path = `/admin/console/approvals/${(await erase()).json.id as string}`;
        const shown = await approving!.browser.open(path);
        await approving!.browser.submit(shown, `${path}/${before}`);
        const answer = await approving!.browser.submit(shown, `${path}/${what}`, postedAnew());
        expect([answer.status, answer.html.querySelector('[role="alert"]')!.text]).toEqual([
          409,
          expect.stringContaining(`This is not pending: it is ${state}.`),
        ]);
        expect(await exists()).toBe(state === 'rejected');
      },
    );
  });

  it('expires after 7 days, by the clock of the database, and can be asked for again', async () => {
    const asked = await erase();
    const path = `/admin/console/approvals/${asked.json.id as string}`;
    const shown = await approving!.browser.open(path);
    await age(asked);
    expect((await stateOf(asked)).state).toBe('expired');
    for (const what of ['approve', 'reject'] as const) {
      const answer = await approving!.browser.submit(shown, `${path}/${what}`);
      expect([answer.status, answer.html.querySelector('[role="alert"]')!.text]).toEqual([
        409,
        expect.stringContaining('This is not pending: it is expired.'),
      ]);
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
      expect([answer.status, answer.json.detail]).toEqual([
        409,
        expect.stringContaining('This user owns clients.'),
      ]);
      expect((await stateOf(asked)).state).toBe('pending');
      expect(await actions(asked.json.id)).toEqual(['approval.requested']);
    });

    it('a user who is gone', async () => {
      const asked = await makeAdmin();
      await decide('approve', await erase());
      const answer = await decide('approve', asked);
      expect([answer.status, answer.json.detail]).toEqual([
        409,
        'There is no user with this id. It may be gone: reject this.',
      ]);
      expect((await stateOf(asked)).state).toBe('pending');
      expect((await decide('reject', asked)).status).toBe(200);
    });
  });

  describe('in the console', () => {
    const open = (path: string, { browser } = approving!): Promise<Page> => browser.open(CONSOLE + path);
    const pathOf = ({ json }: { json: Answer['json'] }) => `/approvals/${json.id as string}`;
    /** What the navigation of every page says. */
    const waiting = async () =>
      (await open('/mails')).html.querySelectorAll('.side-nav .count').map(({ text }) => text);

    it.each([
      ['erasing a user', async () => `/users/${user.id}/erase`, {}],
      ['making an admin', async () => `/users/${user.id}/make-operator`, { operator_role: 'admin' }],
      ['deleting a client', async () => `/clients/${(await service.make.client()).id}/delete`, {}],
    ])('%s leads to a page that says that nothing is done yet', async (_what, where, fields) => {
      const path = await where();
      const { browser } = asking!;
      const form = await open(path, asking);
      expect(wordsOf(form)).toContain('until another admin approves it');
      const { status, headers } = await browser.submit(form, CONSOLE + path, fields);
      expect(status).toBe(303);
      const page = await browser.open(headers.get('location')!);
      expect(page.html.querySelector('[role="status"]')!.text).toBe(
        'Nothing is done yet: another admin has to approve it.',
      );
      expect(wordsOf(page)).toContain('Pending');
      expect((await open(path.replace(/\/[a-z-]+$/, ''))).text).not.toContain('operator: admin');
    });

    it('shows that it waits on every page, until it is approved', async () => {
      const asked = await erase();
      expect(wordsOf(await open(''))).toContain('A request waits for approval.');
      expect(await waiting()).toEqual(['1 waiting']);
      expect((await open('/approvals?state=pending')).html.querySelectorAll('tbody tr')).toHaveLength(1);
      expect((await decide('approve', asked)).json.detail).toBe('Approved and carried out.');
      const page = await open(pathOf(asked));
      expect(page.html.querySelectorAll('main form[action*="approvals"]')).toEqual([]);
      expect(wordsOf(await open(''))).not.toContain('waits for approval');
      expect(await waiting()).toEqual([]);
      expect((await open(`/users/${user.id}`)).status).toBe(404);
    });

    it('is given at once if it is another role than admin', async () => {
      const path = `${CONSOLE}/users/${user.id}/make-operator`;
      await asking!.browser.fillIn(path, { operator_role: 'support' });
      expect((await open(`/users/${user.id}`)).text).toContain('operator: support');
    });

    it('is listed with its state, also when it is overdue, and an unknown state is refused', async () => {
      const asked = await erase();
      await age(asked);
      expect(wordsOf(await open(pathOf(asked)))).toContain('Expired');
      expect(wordsOf(await open('/approvals?state=expired'))).toContain('Erase user');
      const none = wordsOf(await open('/approvals?state=pending'));
      expect(none).toContain('Nothing is pending.');
      expect(none).toContain('one admin asks for, and another one approves or rejects');
      expect((await open('/approvals?state=gone')).status).toBe(400);
    });

    it('names the person to erase and who asked for it, on its page and in the list', async () => {
      await service.make.updateUser(user, { name: 'Ada <b>Driver</b>' });
      await service.make.updateUser(asking!.user, { name: 'Olga Operator' });
      const asked = await erase();
      for (const page of [await open(pathOf(asked)), await open('/approvals')]) {
        for (const name of ['Ada <b>Driver</b>', 'Olga Operator']) expect(wordsOf(page)).toContain(name);
        expect(page.html.querySelector(`a[href="${CONSOLE}/users/${user.id}"]`)!.text).toContain('Ada');
        expect(page.text).toContain(user.id);
        expect(page.text).not.toContain('<b>Driver');
      }
      // It keeps the id of what is gone.
      await service.database.query('DELETE FROM users WHERE id = $1', [user.id]);
      expect(wordsOf(await open(pathOf(asked)))).toContain(user.id);
    });

    it('names the client to delete', async () => {
      const { id } = await service.make.client({ name: 'Charge Planner' });
      const page = await open(pathOf(await ask(`${CONSOLE}/clients/${id}/delete`)));
      expect(page.html.querySelector(`a[href="${CONSOLE}/clients/${id}"]`)!.text).toBe('Charge Planner');
    });
  });

  it('knows no other approvals', async () => {
    for (const id of ['appr01HN2NJ9NMRZBXT1H6FT9N7735', 'nonsense']) {
      expect((await send('POST', `/admin/approvals/${id}/reject`, first!)).status).toBe(404);
      expect((await asking!.browser.open(`/admin/console/approvals/${id}`)).status).toBe(404);
    }
    expect((await send('GET', '/admin/approvals?state=done', first!)).status).toBe(400);
  });
});
