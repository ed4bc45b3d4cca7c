import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';

const read = (file: string) => readFileSync(file, 'utf8');

describe('the options of Node.js at the start', () => {
  it('are the same in the container as with npm start', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
    const command = /^CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1];
    expect((JSON.parse(command ?? '[]') as string[]).join(' ')).toBe(scripts.start.replace(/^exec /, ''));
  });

  it('come with what was compiled at a first start by the same user, which the container only reads', () => {
    const [build, image] = read('Dockerfile')
      .split(/^FROM .*$/m)
      .slice(1) as [string, string];
    const [, folder] = /NODE_COMPILE_CACHE=(\S+)/.exec(image)!;
    expect(build).toContain(
      `NODE_COMPILE_CACHE=${folder} setpriv --reuid=1000 --regid=1000 --clear-groups node scripts/first-start.mjs\n`,
    );
    expect(image).toContain(`COPY --from=build --chown=root:root ${folder} ${folder}\n`);
    expect(image).toContain('\nUSER 1000:1000\n');
  });
});

describe('the health check of the container', () => {
  const command = /^HEALTHCHECK .*\\\n\s+CMD (\[.*\])$/m.exec(read('Dockerfile'))?.[1];
  const [program, ...args] = JSON.parse(command ?? '[]') as [string, ...string[]];

  let server: Server;
  let asked: string[];
  let status: number;
  beforeEach(async () => {
    asked = [];
    server = createServer(({ url }, response) => {
      asked.push(url!);
      response.writeHead(status).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => server.close());

  const check = (): Promise<number> => {
    const PORT = String((server.address() as AddressInfo).port);
    return new Promise((resolve) =>
      execFile(program, args, { env: { PATH: process.env.PATH, PORT } }, (error) =>
        resolve(Number(error?.code ?? 0)),
      ),
    );
  };

  it.each([
    [200, 0],
    [503, 1],
  ])('asks whether the service lives, not whether it is ready: %d ends it with %d', async (answer, code) => {
    status = answer;
    expect([program, await check(), asked]).toEqual(['bash', code, ['/health/live']]);
  });
});
