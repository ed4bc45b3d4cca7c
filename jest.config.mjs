import { availableParallelism } from 'node:os';

/**
 * Tests run in plain Node.js processes (test/support/jest/), on what scripts/compile.mjs has compiled: modules are loaded once for each
 * worker, and nothing is transformed while tests run.
 */
const project = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/dist/test', '<rootDir>/dist/packages'],
  testRunner: '<rootDir>/test/support/jest/plain-runner.mjs',
  testEnvironment: '<rootDir>/test/support/jest/plain-environment.mjs',
  runtime: '<rootDir>/test/support/jest/plain-runtime.cjs',
  transform: {},
};
/** What the one PostgreSQL of a run and the memory of a small machine are enough for. */
const CORES_AT_MOST = 6;
const specs = (folder) => [
  `<rootDir>/dist/test/${folder}/**/*.spec.js`,
  `<rootDir>/dist/packages/*/test/${folder}/**/*.spec.js`,
];

export default {
  projects: [
    // Of functions and classes by themselves: without a database.
    { ...project, displayName: 'unit', testMatch: specs('unit') },
    {
      ...project,
      displayName: 'service',
      testMatch: specs('!(unit)'),
      globalSetup: '<rootDir>/test/support/global-setup.mjs',
      globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
    },
  ],
  reporters: ['<rootDir>/test/support/jest/reporter.mjs'],
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
  // It only ends a hang, for every test alike: on a machine that is busy with others a test takes many times as long.
  // The nightly run has tests of a million requests.
  testTimeout: process.env.NIGHTLY ? 6 * 3_600_000 : 600_000,
  // One more than there are cores: each test waits for something part of its time.
  maxWorkers: Math.min(availableParallelism(), CORES_AT_MOST) + 1,
};
