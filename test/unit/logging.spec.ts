import { createLog, NestLog } from '#platform/http/server/logging.js';
import { detached, inLogScope, keepLogScope } from '#platform/telemetry/log-scope.js';

type Line = Record<string, unknown>;

/** A log at this level, and the lines it wrote. */
function logAt(level: string): { log: NestLog; lines: Line[] } {
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Line);
  return { log: new NestLog(createLog(level, { write })), lines };
}

function sayAll(log: NestLog): void {
  log.verbose('a', 'Somewhere');
  log.debug('b', 'Somewhere');
  log.log('c', 'Somewhere');
  log.log('of the framework', 'RouterExplorer');
  log.warn('d', 'Somewhere');
  log.error('e', undefined, 'Somewhere');
  log.fatal('f', 'Somewhere');
}

describe('the log', () => {
  it.each([
    ['silent', []],
    ['fatal', ['fatal']],
    ['error', ['error', 'fatal']],
    ['warn', ['warn', 'error', 'fatal']],
    ['info', ['info', 'warn', 'error', 'fatal']],
    ['debug', ['debug', 'info', 'debug', 'warn', 'error', 'fatal']],
    ['trace', ['trace', 'debug', 'info', 'debug', 'warn', 'error', 'fatal']],
  ])('at the level %s writes lines of at least that severity', (level, levels) => {
    const { log, lines } = logAt(level);
    sayAll(log);
    expect(lines.map((line) => line.level)).toEqual(levels);
  });

  it('writes an error’s name, message, code and stack, but not the values that a driver attaches to it', () => {
    const { log, lines } = logAt('info');
    const error = Object.assign(new TypeError('went wrong'), { code: '23505', parameters: ['a secret'] });
    log.error(error, undefined, 'Somewhere');
    expect(lines[0]).toMatchObject({
      msg: 'went wrong',
      context: 'Somewhere',
      err: { type: 'TypeError', code: '23505', stack: expect.stringContaining('logging.spec') as string },
    });
    expect(JSON.stringify(lines)).not.toContain('a secret');
  });

  it('contains the fields of the line itself', () => {
    const { log, lines } = logAt('info');
    log.warn({ text: 'given up', fields: { delivery_id: 'three' } }, 'Somewhere');
    expect(lines[0]).toMatchObject({ msg: 'given up', delivery_id: 'three', context: 'Somewhere' });
  });

  it('contains the fields of the current scope, also after an await, but not in detached work', async () => {
    keepLogScope();
    const { log, lines } = logAt('info');
    await inLogScope({ request_id: 'one' }, async () => {
      await Promise.resolve();
      log.log('within');
      await inLogScope({ delivery_id: 'two' }, async () => log.log('further within'));
      await detached(async () => log.log('apart'));
      log.log('within again');
    });
    log.log('outside');
    const fields = lines.map(({ msg, request_id, delivery_id }) => [msg, request_id, delivery_id]);
    expect(fields).toEqual([
      ['within', 'one', undefined],
      ['further within', undefined, 'two'],
      ['apart', undefined, undefined],
      ['within again', 'one', undefined],
      ['outside', undefined, undefined],
    ]);
  });
});
