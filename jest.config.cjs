/** Everything is compiled to CommonJS for the tests: jest's own ESM mode and Nest do not go together yet. */
const project = {
  rootDir: __dirname,
  testEnvironment: '<rootDir>/test/support/compile-once.mjs',
  moduleFileExtensions: ['ts', 'tsx', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: {
    // oidc-provider's warnings that it runs as a test would stand between the results.
    '/attention\\.js$': '<rootDir>/test/support/no-attention.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Files called .mjs are never compiled to CommonJS; each of these packages ships its code in that form too.
    '^d3-([a-z-]+)$': '<rootDir>/node_modules/d3-$1/dist/d3-$1.js',
  },
  transform: {
    '^.+\\.(t|j|m)sx?$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', tsx: true, decorators: true, dynamicImport: true },
          transform: {
            legacyDecorator: true,
            decoratorMetadata: true,
            react: { runtime: 'automatic', importSource: 'preact' },
          },
          target: 'es2022',
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/data/', '<rootDir>/packages/[^/]+/dist/'],
};
const specs = (folder) => [
  `<rootDir>/test/${folder}/**/*.spec.ts`,
  `<rootDir>/test/${folder}/**/*.spec.tsx`,
  `<rootDir>/packages/*/test/${folder}/**/*.spec.ts`,
];

module.exports = {
  projects: [
    // Of functions and classes by themselves: without a database, and without a build.
    { ...project, displayName: 'unit', testMatch: specs('unit') },
    {
      ...project,
      displayName: 'service',
      testMatch: specs('!(unit)'),
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // It only ends a hang, for every test alike: on a machine that is busy with others a test takes many times as long.
  testTimeout: 600_000,
  // One more than there are cores where CI runs: many tests wait for processes that they started.
  maxWorkers: 3,
  // A worker keeps something of every file it has run; a new one begins with nothing, and collects less garbage.
  workerIdleMemoryLimit: '1200MB',
};
