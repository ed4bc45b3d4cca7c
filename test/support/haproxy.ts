import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LOOPBACK } from './foreign-conditions.js';
import { freePort } from './free-port.js';
import { until } from './until.js';

const PROGRAM = ['haproxy', '/usr/sbin/haproxy'].find((name) => spawnSync(name, ['-v']).status === 0);

/** Why HAProxy cannot be tested on this machine; undefined if it can. */
export const lackingHaproxy = PROGRAM ? undefined : 'there is no haproxy on this machine';

/** The service waits for a balancer that has asked for half a second at least; the shipped one asks once a second. */
export const WATCHED_MS = 2_500;

/** The load balancer with the shipped `deploy/haproxy.cfg`, in front of instances on this machine. */
export class Haproxy {
  private constructor(
    readonly url: string,
    private readonly stateUrl: string,
    private readonly running: RunningHaproxy,
  ) {}

  /**
   * `isPatient`: it waits for clients and instances as long as it takes, for a test of something else on a busy machine. `logPort`: as
   * Debian starts it, by root, with its log sent to this UDP port in place of /dev/log; otherwise as a container does.
   */
  static async start(
    port: number,
    instances: number[],
    { isPatient = false, logPort }: { isPatient?: boolean; logPort?: number } = {},
  ): Promise<Haproxy> {
    const shipped = await readFile(path.join(process.cwd(), 'deploy', 'haproxy.cfg'), 'utf8');
    const config = (
      isPatient
        ? shipped.replace(/timeout (client|http-request|check|server) \d+s/g, 'timeout $1 1h')
        : shipped
    )
      .replace('bind :8080', `bind ${LOOPBACK}:${port}`)
      .replace('log /dev/log', `log 127.0.0.1:${logPort}`);
    const statePort = await freePort();
    const state = [
      'frontend state',
      `  bind 127.0.0.1:${statePort}`,
      '  http-request return status 200 content-type text/plain lf-string "%[nbsrv(instances)]"',
    ];
    const [first, second] = instances.map((instance) => `${LOOPBACK}:${instance}`);
    const running = await runHaproxy(`${config}\n${state.join('\n')}\n`, {
      SERVICE_1: first!,
      SERVICE_2: second!,
      ...(logPort === undefined ? IN_CONTAINER : {}),
    });
    return new Haproxy(`http://${LOOPBACK}:${port}`, `http://127.0.0.1:${statePort}`, running);
  }

  /** Waits until it runs and has found that many instances ready. */
  async untilUp(count: number): Promise<void> {
    await until(`${count} instances are up`, async () => {
      const answer = await fetch(this.stateUrl).catch(() => undefined);
      return (await answer?.text()) === String(count);
    });
  }

  get pid(): number {
    return this.running.pid;
  }

  stop(): Promise<void> {
    return this.running.stop();
  }
}

export interface RunningHaproxy {
  pid: number;
  stop(): Promise<void>;
}

/** The shipped files then neither change the user nor the folder, which only root may. */
export const IN_CONTAINER = { HAPROXY_IN_CONTAINER: 'true' };

/** Runs it with this configuration and environment. */
export async function runHaproxy(config: string, env: Record<string, string>): Promise<RunningHaproxy> {
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-haproxy-'));
  const file = path.join(folder, 'haproxy.cfg');
  await writeFile(file, config);
  const child = spawn(PROGRAM!, ['-db', '-f', file], {
    env: { PATH: process.env.PATH, ...env },
    stdio: 'ignore',
  });
  const killWithUs = () => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return {
    pid: child.pid!,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
