// Why there is a runner of our own: Jest's module system loads whatever a file imports anew for each file, in a sandbox whose globals go
// through a proxy. For a file that starts the service these are thousands of modules, which takes longer than its tests. Here Node.js
// loads the compiled file, and the service's modules once for each worker, so that files also share what they have started. Everything
// else is Jest's: workers, time limits, hooks, matchers, reports. The other two files of this folder only take the place of the sandbox.
import { jestExpect as expect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { createEmptyTestResult } from '@jest/test-result';
import fc from 'fast-check';
import * as circus from 'jest-circus';
import { formatResultsErrors } from 'jest-message-util';
import { ModuleMocker } from 'jest-mock';
import { pathToFileURL } from 'node:url';
import { endFile, endWorker, logFromNow } from '../../../dist/test/support/between-files.js';

// The same inputs in every run, so that none fails by chance. A nightly run searches with a seed of its own, which a failure prints.
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 1) });

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });
const jest = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers: (config) => timers.useFakeTimers(config),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  setSystemTime: (time) => timers.setSystemTime(time),
};
const { test, it, describe, beforeAll, beforeEach, afterAll, afterEach } = circus;
Object.assign(globalThis, { expect, jest, test, it, describe, beforeAll, beforeEach, afterAll, afterEach });

let log;
circus.addEventHandler((event) => {
  if (event.name === 'test_start') {
    expect.setState({ currentTestName: event.test.name, suppressedErrors: [] });
    log = logFromNow();
  } else if (event.name === 'test_done') {
    event.test.errors.push(...expect.getState().suppressedErrors);
    event.test.errors.push(...expect.extractExpectedAssertionsErrors().map(({ error }) => error));
    const [failure] = event.test.errors.flat().filter((error) => error instanceof Error);
    const lines = failure && log();
    if (lines) failure.stack = `${failure.stack}\n\nWhat the service wrote during this test:\n${lines}\n`;
  }
});
for (const unexpected of ['uncaughtException', 'unhandledRejection']) {
  process.on(unexpected, (error) => {
    const { currentlyRunningTest, unhandledErrors } = circus.getState();
    (currentlyRunningTest?.errors ?? unhandledErrors).push(error);
  });
}

// Jest's word to a worker that it has run its last file. What the files shared ends with the process, and its database with the run.
const LAST_FILE_HAS_RUN = 2;
process.on('message', ([kind]) => kind === LAST_FILE_HAS_RUN && process.exit());

const resultOf = ({ testPath: [, ...names], status, errors, errorsDetailed, duration }) => ({
  ancestorTitles: names.slice(0, -1),
  title: names.at(-1),
  fullName: names.join(' '),
  status: status === 'skip' ? 'pending' : errors.length > 0 ? 'failed' : 'passed',
  failureMessages: errors,
  failureDetails: errorsDetailed,
  duration,
});

/**
 * A worker keeps something of every file that it has run. One that has grown too large for the next ends before it begins: Jest starts another
 * and gives it that file. Jest's own limit (`workerIdleMemoryLimit`) kills a worker in the middle of the next file, and may then write to it.
 */
const HEAP_MAX = Number(process.env.WORKER_HEAP_MAX ?? 1_500_000_000);
const TOO_LARGE = 1;

let loads = 0;

export default async function runFile(globalConfig, config, _environment, _runtime, testPath) {
  if (process.send && loads > 0 && process.memoryUsage().heapUsed > HEAP_MAX) process.exit(TOO_LARGE);
  // What Jest has installed for its own module system; Node.js maps what was compiled by itself.
  Error.prepareStackTrace = undefined;
  Error.stackTraceLimit = 20;
  process.setSourceMapsEnabled(true);
  // Timers that a unit test holds are not those of a service that runs beside it.
  if (config.displayName.name === 'unit') await endWorker();
  circus.resetState();
  expect.setState({
    testPath,
    expand: globalConfig.expand,
    assertionCalls: 0,
    expectedAssertionsNumber: null,
  });
  const state = circus.getState();
  state.testTimeout = globalConfig.testTimeout ?? state.testTimeout;
  if (globalConfig.testNamePattern) state.testNamePattern = new RegExp(globalConfig.testNamePattern, 'i');

  // The modules of the service are loaded once; the file itself anew, in watch mode too.
  loads += 1;
  await import(`${pathToFileURL(testPath)}?${loads}`);
  circus.afterAll(endFile);
  const { testResults, unhandledErrors } = await circus.run();
  mocker.restoreAllMocks();
  timers.useRealTimers();

  const results = testResults.map(resultOf);
  const count = (status) => results.filter((result) => result.status === status).length;
  return {
    ...createEmptyTestResult(),
    failureMessage: formatResultsErrors(results, config, globalConfig, testPath),
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    testExecError:
      unhandledErrors.length > 0 ? { message: '', stack: unhandledErrors.join('\n') } : undefined,
    testFilePath: testPath,
    testResults: results,
  };
}
