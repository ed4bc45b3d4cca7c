import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { freePort } from '../support/free-port.js';
import { describeUnless } from '../support/left-out.js';
import { until, useSharedService } from '../support/spec.js';

const lackingBash =
  spawnSync('bash', ['--version']).status === 0 ? undefined : 'there is no bash on this machine';
const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
const OF_IMAGE = JSON.parse(/HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(DOCKERFILE)![1]!) as string[];
// In docker-compose.yml a dollar sign is written twice.
const OF_COMPOSE = /- '(exec 3<>\/dev\/tcp.*)'$/m
  .exec(readFileSync('docker-compose.yml', 'utf8'))![1]!
  .replaceAll('$$', '$');

describeUnless(lackingBash, 'the health check', () => {
  const service = useSharedService();

  const runs = async ([command, ...args]: string[], port: string): Promise<boolean> => {
    const child = spawn(command!, args, { env: { PATH: process.env.PATH, PORT: port }, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    return code === 0;
  };
  const port = () => new URL(service.url).port;

  it('of the image succeeds while the process answers, and fails where nothing does', async () => {
    expect(await runs(OF_IMAGE, port())).toBe(true);
    expect(await runs(OF_IMAGE, String(await freePort()))).toBe(false);
  });

  it('of docker-compose.yml asks whether the instance is ready', async () => {
    const at = (path: string) => [
      'bash',
      '-c',
      OF_COMPOSE.replace('/3000', `/${port()}`).replace('/health/ready', path),
    ];
    expect(OF_COMPOSE).toContain('GET /health/ready ');
    await until('it is ready', () => runs(at('/health/ready'), ''));
    expect(await runs(at('/health/unknown'), '')).toBe(false);
  });
});

it('the image runs as a user that is named by number, so that a platform can tell that it is not root', () => {
  const users = [...DOCKERFILE.matchAll(/^USER (.*)$/gm)].map(([, user]) => user);
  expect(users).toEqual(['1000:1000']);
  expect(DOCKERFILE).toContain('org.opencontainers.image.title');
});
