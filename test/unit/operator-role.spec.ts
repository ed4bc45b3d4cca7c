import { OPERATOR_ROLES, roleIncludes } from '#platform/config/operator-role.js';

it.each([
  ['viewer', [true, false, false]],
  ['support', [true, true, false]],
  ['admin', [true, true, true]],
] as const)('The role %s includes itself and those below it', (role, expected) => {
  expect(OPERATOR_ROLES.map((least) => roleIncludes(role, least))).toEqual(expected);
});
