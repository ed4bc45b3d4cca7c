import tseslint from 'typescript-eslint';

const ORDER =
  'Tests assert no times: say what happens before what, hold the clock (test/support/held-timers.ts, clock.ts), or see CONTRIBUTING.md.';
const DEADLINE =
  'A deadline only ends a hang, and is the same for every test (jest.config.cjs, test/support/until.ts).';
const DATE_NOW = "CallExpression[callee.object.name='Date'][callee.property.name='now']";
/** A test that measures how long something took is red on a busy machine. */
const NO_MEASURED_TIMES = [
  { selector: "MemberExpression[object.name='performance'][property.name='now']", message: ORDER },
  {
    selector: "MemberExpression[object.name='process'][property.name=/^(hrtime|cpuUsage)$/]",
    message: ORDER,
  },
  { selector: `BinaryExpression[operator='-'][right.type='Identifier'] > ${DATE_NOW}.left`, message: ORDER },
  { selector: `BinaryExpression[operator='-'] > ${DATE_NOW}.right`, message: ORDER },
  // The same in seconds.
  {
    selector: `BinaryExpression[operator='-'][right.type!='Literal'] > BinaryExpression.left[operator='/'] > ${DATE_NOW}.left`,
    message: ORDER,
  },
  {
    selector: `BinaryExpression[operator='-'] > BinaryExpression.right[operator='/'] > ${DATE_NOW}.left`,
    message: ORDER,
  },
  {
    selector: "CallExpression[callee.object.name='jest'][callee.property.name='setTimeout']",
    message: DEADLINE,
  },
  {
    selector:
      'CallExpression[callee.name=/^(it|test|beforeAll|beforeEach|afterAll|afterEach)$/] > Literal.arguments:last-child',
    message: DEADLINE,
  },
];

export default tseslint.config(
  { ignores: ['**/dist/', 'data/', 'coverage/', 'node_modules/', 'src/web/assets/vendor/'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    ignores: ['src/main.ts', 'src/operator.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings come from src/config alone.' },
        { object: 'URL', property: 'canParse', message: 'Wrong in Node 20: isUrl of src/config.' },
      ],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'demo/**/*.ts', 'bench/**/*.mjs'],
    ignores: ['src/secrets/purpose-key.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          paths: ['node:crypto', 'crypto'].map((name) => ({
            name,
            importNames: ['hkdf', 'hkdfSync'],
            message: 'Keys are derived in src/secrets/purpose-key.ts, which lists all purposes.',
          })),
        },
      ],
    },
  },
  {
    files: ['test/**/*.ts', 'test/**/*.tsx', 'test/**/*.mjs', 'packages/*/test/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...NO_MEASURED_TIMES] },
  },
  {
    // What measures for all others: the clocks that a test holds, what can say a lower bound alone, and what ends a hang.
    files: ['clock.ts', 'stopwatch.ts', 'processor-time.ts', 'until.ts', 'stepping-clock.mjs'].map(
      (name) => `test/support/${name}`,
    ),
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['**/*.cjs'], languageOptions: { sourceType: 'commonjs' } },
);
