import type { HttpAdapterHost } from '@nestjs/core';
import type { NewRequestRecord } from '#records/requests/request-record.entity.js';
import type { RequestRecordsRepository } from '#records/requests/request-records.repository.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';

type Hook = (request: object, reply: object, done: () => void) => void;

describe('Records of requests', () => {
  const start = () => {
    const hooks = new Map<string, Hook>();
    const written: NewRequestRecord[] = [];
    const fastify = { addHook: (name: string, hook: Hook) => hooks.set(name, hook) };
    const service = new RequestRecordsService(
      {
        insert: (records: NewRequestRecord[]) => void written.push(...records),
      } as unknown as RequestRecordsRepository,
      { httpAdapter: { getInstance: () => fastify } } as unknown as HttpAdapterHost,
    );
    service.onModuleInit();
    const answer = (statusCode: number, url = '/v2/users') =>
      hooks.get('onResponse')!(
        { id: 'x', method: 'GET', routeOptions: { url } },
        { statusCode, elapsedTime: 1 },
        () => {},
      );
    return { service, written, answer };
  };

  it('leave out files of pages, and what watches the service', async () => {
    const { service, written, answer } = start();
    for (const url of ['/assets/app.css', '/health/ready', '/metrics']) answer(404, url);
    await service.flush();
    expect(written).toEqual([]);
  });

  it('are bounded between two writes: 500 refused and 10 served', async () => {
    const { service, written, answer } = start();
    for (let n = 0; n < 600; n++) [200, 404].forEach((status) => answer(status));
    await service.flush();
    const count = (from: number) => written.filter(({ status }) => status === from).length;
    expect([count(200), count(404)]).toEqual([10, 500]);
    answer(404);
    await service.flush();
    expect(count(404)).toBe(501);
  });
});
