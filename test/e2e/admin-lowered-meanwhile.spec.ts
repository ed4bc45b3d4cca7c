import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { whileHeld } from '../support/held-rows.js';
import { madeForEach, PATIENT, useSharedService } from '../support/spec.js';

/*
 * A client of the admin API is admitted with the role of its owner. Before its change has the lock that it waits for, another admin's
 * transaction has it and takes the role, or disables the owner.
 */
describe('A change by the client of an admin who is an admin no longer when it gets its turn', () => {
  const service = useSharedService({ databaseOptions: PATIENT });
  const admin = madeForEach(() => service.make.user({ role: 'operator' }));
  const other = madeForEach(() => service.make.user({ role: 'operator' }));
  const bearer = madeForEach(async () => ({
    token: await service.make.adminToken(['admin:read', 'admin:write'], admin),
  }));

  const LOWERED = "operator_role = 'viewer'";
  const DISABLED = 'enabled = false';
  type Sent = [method: string, path: string, json?: object];
  const stateOf = async () => ({
    accounts: await service.database.query(
      'SELECT id, role, operator_role, enabled, password_hash, email_verified_at FROM users WHERE id = ANY ($1) ORDER BY id',
      [[admin.id, other.id]],
    ),
    links: await service.database.query('SELECT 1 FROM password_links WHERE user_id = ANY ($1)', [
      [admin.id, other.id],
    ]),
    made: await service.database.query("SELECT 1 FROM users WHERE email = 'accomplice@mail.example'"),
  });

  /** Sends it while a transaction that changes the admin goes on, which is committed before the change gets its turn. */
  const sendWhile = async (change: string, [method, path, json]: Sent) => {
    const held: [string, unknown[]] = [`UPDATE users SET ${change} WHERE id = $1`, [admin.id]];
    const send = () => service.http.send(path, { method, json, bearer: bearer.token });
    const [answer] = await whileHeld(service, held, [send], 'COMMIT');
    return answer!;
  };

  const ownRole = (user: UserEntity): Sent => [
    'PATCH',
    `/admin/users/${user.id}`,
    { role: 'operator', operator_role: 'admin', enabled: true, email_verified: true },
  ];

  it.each([
    ['does not give the role back', LOWERED, () => ownRole(admin)],
    ['does not enable the account again', DISABLED, () => ownRole(admin)],
    ['disables nobody', LOWERED, (): Sent => ['PATCH', `/admin/users/${other.id}`, { enabled: false }]],
    ['erases nobody', DISABLED, (): Sent => ['DELETE', `/admin/users/${other.id}`]],
    ['makes no password link', LOWERED, (): Sent => ['POST', `/admin/users/${other.id}/password_links`]],
    [
      'makes no operator',
      LOWERED,
      (): Sent => [
        'POST',
        '/admin/users',
        { email: 'accomplice@mail.example', name: 'Accomplice', role: 'operator', operator_role: 'admin' },
      ],
    ],
  ])('%s', async (_what, change, sent) => {
    const before = await stateOf();
    const answer = await sendWhile(change, sent());
    expect([answer.status, answer.json.detail]).toEqual([
      403,
      expect.stringContaining('This requires the role admin.'),
    ]);
    const after = await stateOf();
    const lowered = (row: object) =>
      (row as UserEntity).id !== admin.id
        ? row
        : { ...row, ...(change === DISABLED ? { enabled: false } : { operator_role: 'viewer' }) };
    expect(after).toEqual({ ...before, accounts: before.accounts.map((row) => lowered(row as object)) });
  });

  it('is made if the admin stays one', async () => {
    const answer = await sendWhile("name = 'Ada Admin'", [
      'PATCH',
      `/admin/users/${other.id}`,
      { enabled: false },
    ]);
    expect([answer.status, answer.json.enabled]).toEqual([200, false]);
  });
});
