import type { Actor } from '#records/audit/audit.service.js';
import { isHigher, roleIncludes, type OperatorRole } from '#platform/config/operator-role.js';
import { isLimited } from '#access/users/accounts/operator-protection.service.js';

const UNKNOWN = 'owner' as OperatorRole;

it.each([null, UNKNOWN])('The role %s includes nothing', (role) => {
  for (const least of ['viewer', 'support', 'admin'] as const) expect(roleIncludes(role, least)).toBe(false);
});

it.each<[Partial<Actor>, boolean]>([
  [{ type: 'service' }, false],
  [{ type: 'user', operatorRole: 'admin' }, false],
  [{ type: 'client', operatorRole: 'admin' }, false],
  [{ type: 'user' }, true],
  [{ type: 'client' }, true],
  [{ type: 'client', operatorRole: 'support' }, true],
  [{ type: 'user', operatorRole: UNKNOWN }, true],
])('Who acts as %j is limited: %s', (actor, limited) => {
  expect(isLimited({ id: 'user1', ...actor } as Actor)).toBe(limited);
});

it.each<[OperatorRole | null, OperatorRole | null, boolean]>([
  ['viewer', null, true],
  ['admin', 'support', true],
  ['support', 'admin', false],
  ['admin', 'admin', false],
  [null, 'viewer', false],
  [null, null, false],
])('The role %s is higher than %s: %s', (role, than, higher) => {
  expect(isHigher(role, than)).toBe(higher);
});
