// A lint plugin: a test that measures how long something took is red on a busy machine.
const ORDER =
  'Tests assert no times: say what happens before what, hold the clock (test/support/held-timers.ts, clock.ts), or see CONTRIBUTING.md.';
const DEADLINE =
  'A deadline only ends a hang, and is the same for every test (jest.config.mjs, test/support/until.ts).';
const DATE_NOW = "CallExpression[callee.object.name='Date'][callee.property.name='now']";

const REFUSED = {
  [ORDER]: [
    "MemberExpression[object.name='performance'][property.name='now']",
    "MemberExpression[object.name='process'][property.name=/^(hrtime|cpuUsage)$/]",
    `BinaryExpression[operator='-'][right.type='Identifier'] > ${DATE_NOW}.left`,
    `BinaryExpression[operator='-'] > ${DATE_NOW}.right`,
    // The same in seconds.
    `BinaryExpression[operator='-'][right.type!='Literal'] > BinaryExpression.left[operator='/'] > ${DATE_NOW}.left`,
    `BinaryExpression[operator='-'] > BinaryExpression.right[operator='/'] > ${DATE_NOW}.left`,
  ],
  [DEADLINE]: [
    "CallExpression[callee.object.name='jest'][callee.property.name='setTimeout']",
    'CallExpression[callee.name=/^(it|test|beforeAll|beforeEach|afterAll|afterEach)$/] > Literal.arguments:last-child',
  ],
};

const measuredTimes = {
  create: (context) =>
    Object.fromEntries(
      Object.entries(REFUSED).flatMap(([message, selectors]) =>
        selectors.map((selector) => [selector, (node) => context.report({ node, message })]),
      ),
    ),
};

export default { meta: { name: 'tests' }, rules: { 'no-measured-times': measuredTimes } };
