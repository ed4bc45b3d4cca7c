import { until, useSharedService } from '../support/spec.js';

interface LogLine {
  level: string;
  msg: string;
  route?: string;
  status?: number;
}

describe('the log of health checks and metrics', () => {
  const service = useSharedService();

  const linesOf = (route: string): LogLine[] =>
    service.log.map((line) => JSON.parse(line) as LogLine).filter((line) => line.route === route);

  it('has their successes at debug only, so that they are not a fifth of the log', async () => {
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      await until(`${path} succeeds`, async () => (await service.http.get(path)).status === 200);
      await until(`${path} is logged`, () => linesOf(path).some(({ status }) => status === 200));
      const levels = linesOf(path).filter(({ status }) => status === 200);
      expect(levels.map(({ level }) => level)).toEqual(levels.map(() => 'debug'));
    }
  });

  it('has other requests, and checks that fail, as before', async () => {
    await service.http.get('/login');
    await service.http.send('/health/live', { method: 'POST' });
    await until('both are logged', () => service.log.some((line) => line.includes('"status":405')));
    expect(linesOf('/login').map(({ level }) => level)).toEqual(['info']);
    const refused = service.log
      .map((line) => JSON.parse(line) as LogLine)
      .filter(({ status, msg }) => msg === 'request' && status === 405);
    expect(refused.map(({ level }) => level)).toEqual(['info']);
  });
});
