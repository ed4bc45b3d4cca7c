import { createLog, NestLog } from '#platform/http/server/logging.js';
import { inLogScope, keepLogScope } from '#platform/telemetry/log-scope.js';
import { HeldTimers } from '../support/held-timers.js';

interface LogLine {
  level: string;
  msg: string;
  repeated?: number;
}

describe('a line of the log that repeats', () => {
  let lines: LogLine[];
  let log: NestLog;
  let minutes: HeldTimers;
  beforeEach(() => {
    minutes = HeldTimers.hold(60_000, 60_000, 'server/logging');
    lines = [];
    log = new NestLog(createLog('debug', { write: (line) => void lines.push(JSON.parse(line) as LogLine) }));
  });
  afterEach(() => minutes.release());
  const warn = (times: number, text = 'Deliveries could not be claimed: connect ECONNREFUSED') => {
    for (let n = 0; n < times; n++) log.warn(text, 'DeliveryWorker');
  };

  it('is written once, and then counted for a minute at a time', () => {
    warn(130);
    expect(lines).toHaveLength(1);
    minutes.letPass();
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({
      level: 'warn',
      repeated: 129,
      msg: 'Deliveries could not be claimed: connect ECONNREFUSED (129 more times in the last minute)',
    });
    warn(3);
    minutes.letPass();
    expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, 129, 3]);
  });

  it('is written anew once a minute has passed without it', () => {
    warn(1);
    minutes.letPass();
    warn(1);
    expect(lines.map(({ repeated }) => repeated)).toEqual([undefined, undefined]);
  });

  it('is another line if its text, level or context differs', () => {
    warn(2);
    warn(2, 'Mails could not be claimed: connect ECONNREFUSED');
    log.error('Deliveries could not be claimed: connect ECONNREFUSED', undefined, 'DeliveryWorker');
    log.warn('Deliveries could not be claimed: connect ECONNREFUSED', 'MailWorker');
    expect(lines).toHaveLength(4);
  });

  it('is written each time for a request or a delivery, whose ids it carries, and below a warning', () => {
    keepLogScope();
    for (const id of ['1', '2']) inLogScope({ request_id: id }, () => warn(1));
    for (let n = 0; n < 2; n++) log.log('Stopping', 'Service');
    expect(lines).toHaveLength(4);
  });
});
