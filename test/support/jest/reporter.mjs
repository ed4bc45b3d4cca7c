import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const SLOWEST = 20;
/** As many lines of a failure are repeated at the end, and as many of what the service wrote last. */
const LINES = 12;
const LOG = 'What the service wrote during this test:';
/** `e2e/consent`: how a file is called on the command line too. */
const nameOf = (file) =>
  path
    .relative(path.join(process.cwd(), 'dist'), file)
    .replace(/^test\//, '')
    .replace(/\.spec\.js$/, '');
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;
const durationOf = ({ perfStats }) => perfStats.end - perfStats.start;
const say = (line) => process.stdout.write(`${line}\n`);

/** Why a case was left out, by the title of a `describeUnless` (../left-out.ts) around it. */
const lackingOf = ({ status, ancestorTitles }) =>
  status === 'pending'
    ? ancestorTitles.map((title) => /\[left out: (.+)\]$/.exec(title)?.[1]).find(Boolean)
    : undefined;

/** What is missing on this machine, each with how many cases of which files need it. */
function missing(testResults) {
  const found = new Map();
  for (const { testFilePath, testResults: cases } of testResults) {
    for (const lacking of cases.map(lackingOf).filter(Boolean)) {
      const needed = found.get(lacking) ?? { count: 0, files: new Set() };
      found.set(lacking, needed);
      needed.count += 1;
      needed.files.add(nameOf(testFilePath));
    }
  }
  return [...found].map(
    ([lacking, { count, files }]) =>
      `  ${lacking}: ${count} ${count === 1 ? 'case' : 'cases'} of ${[...files].sort().join(', ')}`,
  );
}

const reasonOf = ([message = '']) => {
  const [reason, log = ''] = stripVTControlCharacters(message)
    .split(LOG)
    .map((part) => part.split('\n').filter((line) => line.trim() !== ''));
  const lines = [...reason.slice(0, LINES), ...(log.length > 0 ? [LOG, ...log.slice(-LINES)] : [])];
  return lines.map((line) => `\n      ${line}`).join('');
};

/** A line for each file. What failed comes at the very end with the first lines of why; the whole, where it happened. */
export default class Reporter {
  constructor(globalConfig) {
    this.isWatching = globalConfig.watch || globalConfig.watchAll;
  }

  onTestResult(_test, result) {
    const { numFailingTests, numPassingTests, numPendingTests, testExecError } = result;
    const hasFailed = numFailingTests > 0 || testExecError;
    const left = numPendingTests > 0 ? `, ${numPendingTests} left out` : '';
    const counts = `${numPassingTests} passed${numFailingTests > 0 ? `, ${numFailingTests} failed` : ''}${left}`;
    const sign = hasFailed ? '✗' : numPassingTests === 0 && numPendingTests > 0 ? '○' : '✓';
    say(`${sign} ${nameOf(result.testFilePath)}: ${counts} (${seconds(durationOf(result))})`);
    if (result.failureMessage) say(result.failureMessage);
    if (!result.failureMessage && testExecError) say(String(testExecError.stack ?? testExecError.message));
  }

  onRunComplete(_contexts, { testResults, numPassedTests, numFailedTests, numPendingTests }) {
    const slowest = [...testResults].sort((a, b) => durationOf(b) - durationOf(a)).slice(0, SLOWEST);
    if (testResults.length > SLOWEST) {
      say('\nThe slowest files:');
      for (const result of slowest)
        say(`${seconds(durationOf(result)).padStart(8)}  ${nameOf(result.testFilePath)}`);
    }
    const failed = testResults.flatMap((result) => [
      ...(result.testExecError ? [`${nameOf(result.testFilePath)}: could not be run to its end`] : []),
      ...result.testResults
        .filter(({ status }) => status === 'failed')
        .map(
          ({ ancestorTitles, title, failureMessages }) =>
            `${nameOf(result.testFilePath)}: ${[...ancestorTitles, title].join(' › ')}${reasonOf(failureMessages)}`,
        ),
    ]);
    say(
      `\n${numPassedTests} passed, ${numFailedTests} failed${numPendingTests > 0 ? `, ${numPendingTests} skipped` : ''}`,
    );
    const leftOut = missing(testResults);
    if (leftOut.length > 0) say(`\nLeft out, because something is missing here:\n${leftOut.join('\n')}`);
    if (failed.length > 0) say(`\nFailed:\n${failed.map((name) => `  ${name}`).join('\n')}`);
  }
}
