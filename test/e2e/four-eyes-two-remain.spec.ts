import { decide, makeAdmin, type AdminInPerson } from '../support/admins.js';
import { CONSOLE } from '../support/console.js';
import { whileHeld } from '../support/held-rows.js';
import { type Answer, PATIENT, useService, wordsOf } from '../support/spec.js';

const service = useService({ databaseOptions: PATIENT, env: { FOUR_EYES: 'true' } });
/** The only enabled admins. Each test ends sessions, so each has its own. */
let [anna, ben, carl]: AdminInPerson[] = [];

beforeEach(async () => {
  await service.database.query('DELETE FROM approvals');
  await service.database.query("UPDATE users SET enabled = false WHERE role = 'operator'");
  [anna, ben, carl] = [
    await makeAdmin(service, 'Anna'),
    await makeAdmin(service, 'Ben'),
    await makeAdmin(service, 'Carl'),
  ];
});

const change = (of: AdminInPerson, json: object, bearer = anna!.bearer): Promise<Answer> =>
  service.http.send(`/admin/users/${of.user.id}`, { method: 'PATCH', bearer, json });
const leaveTwo = () =>
  service.database.query('UPDATE users SET enabled = false WHERE id = $1', [carl!.user.id]);
const admins = async (): Promise<string[]> =>
  (
    await service.database.query<{ name: string }>(
      "SELECT name FROM users WHERE operator_role = 'admin' AND enabled ORDER BY name",
    )
  ).map(({ name }) => name);
/** Presses the button of a page of the console about this person. */
const press = async (of: AdminInPerson, action: string, fields = {}, by = anna!) => {
  const path = `${CONSOLE}/users/${of.user.id}/${action}`;
  const page = await by.browser.open(path);
  const answer = await by.browser.submit(page, path, fields);
  return { page, id: /appr\w{26}/.exec(answer.headers.get('location') ?? '')?.[0], status: answer.status };
};

describe('With FOUR_EYES=true, what leaves one enabled admin alone waits for a second one:', () => {
  beforeEach(leaveTwo);

  it.each(
    Object.entries({
      'disabling the other': () => change(ben!, { enabled: false }),
      'disabling an admin by a client of the company': async () =>
        change(ben!, { enabled: false }, await service.make.adminToken()),
      'disabling the owner of the client that asks': () => change(anna!, { enabled: false }),
    }),
  )('%s, in the admin API', async (_what, ask) => {
    const asked = await ask();
    expect([asked.status, asked.json.action, asked.json.details]).toEqual([
      202,
      'user.update',
      { enabled: false },
    ]);
    expect(await admins()).toEqual(['Anna', 'Ben']);
    // Two persons may decide it all the same.
    await decide(anna!, asked.json.id);
    expect(await admins()).toEqual(['Anna', 'Ben']);
    await decide(ben!, asked.json.id);
    expect(await admins()).toHaveLength(1);
  });

  it.each<[string, () => AdminInPerson, string, object]>([
    ['disabling the other', () => ben!, 'disable', {}],
    ['disabling oneself', () => anna!, 'disable', {}],
    ['giving up one’s own role', () => anna!, 'remove-operator', {}],
    ['lowering one’s own role', () => anna!, 'make-operator', { operator_role: 'viewer' }],
  ])('%s, in the console, whose page says so', async (_what, of, action, fields) => {
    const { page, id } = await press(of(), action, fields);
    expect(wordsOf(page)).toMatch(/(If only )?one enabled admin/);
    expect(id).toBeDefined();
    expect(await admins()).toEqual(['Anna', 'Ben']);
    expect((await decide(ben!, id)).status).toBe(200);
    expect(await admins()).toHaveLength(1);
  });

  it('and whoever approves it for the own account is told so', async () => {
    const { json } = await change(ben!, { enabled: false });
    await decide(anna!, json.id);
    const path = `${CONSOLE}/approvals/${json.id as string}`;
    expect(wordsOf(await ben!.browser.open(path))).toContain('It is about your own account.');
    expect(wordsOf(await anna!.browser.open(path))).not.toContain('your own account');
  });

  it('and is asked for alone', async () => {
    const mixed = await change(ben!, { enabled: false, name: 'Benno' });
    expect([mixed.status, mixed.json.detail]).toEqual([409, expect.stringContaining('change it alone')]);
    expect(await admins()).toEqual(['Anna', 'Ben']);
  });
});

describe('With FOUR_EYES=true and three enabled admins', () => {
  it.each<[string, () => Promise<{ status: number }>, string[]]>([
    ['one disables another', () => change(carl!, { enabled: false }), ['Anna', 'Ben']],
    ['one disables another in the console', () => press(carl!, 'disable'), ['Anna', 'Ben']],
    ['one gives up the own role', () => press(anna!, 'remove-operator'), ['Ben', 'Carl']],
  ])('%s at once, to stop an attack', async (_what, act, left) => {
    expect([200, 303]).toContain((await act()).status);
    expect(await admins()).toEqual(left);
    expect(await service.database.query('SELECT 1 FROM approvals')).toEqual([]);
  });

  it('two of them, at the same moment, do not leave one alone', async () => {
    const rows: [string] = ["SELECT 1 FROM users WHERE operator_role = 'admin' AND enabled FOR UPDATE"];
    const company = await service.make.adminToken();
    const answers = await whileHeld(service, rows, [
      () => change(carl!, { enabled: false }, company),
      () => change(ben!, { enabled: false }, company),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 202]);
    expect(await admins()).toHaveLength(2);
  });
});

describe('With FOUR_EYES=true, what is refused anyway is refused and not queued:', () => {
  it.each([
    ['disabling', { enabled: false }],
    ['lowering', { operator_role: 'support' }],
    ['removing the role of', { role: 'user' }],
  ])('%s the last enabled admin', async (_what, json) => {
    await service.database.query('UPDATE users SET enabled = false WHERE id = ANY ($1)', [
      [ben!.user.id, carl!.user.id],
    ]);
    const answer = await change(anna!, json, await service.make.adminToken());
    expect([answer.status, answer.json.detail]).toEqual([409, expect.stringContaining('last enabled admin')]);
    expect(await service.database.query('SELECT 1 FROM approvals')).toEqual([]);
  });
});
