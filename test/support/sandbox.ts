import { PlannedEventsWorker, SandboxClock } from '#events/sandbox/planned-events.worker.js';
import type { NewClient } from '#access/clients/client.resource.js';
import { BrowserSession } from './browser-session.js';
import { newPkce, REDIRECT_URI, type TestClient, type Tokens } from './factory.js';
import type { Answer } from './http.js';
import type { TestService } from './test-service.js';

/** A driver on the wire. */
export interface SandboxDriver {
  id: string;
  name: string;
  seed: number;
  vehicle: { id: string };
  consented: boolean;
  scopes: string[];
  running: boolean;
  waiting_events: number;
}

/** A client in a sandbox with its token, as a program uses it. */
export class SandboxProgram {
  private constructor(
    private readonly service: TestService,
    readonly client: TestClient,
    readonly bearer: string,
  ) {}

  static async start(service: TestService, input: Partial<NewClient> = {}): Promise<SandboxProgram> {
    const client = await service.make.client({ environment: 'sandbox', ...input });
    return new SandboxProgram(service, client, await service.make.clientToken(client));
  }

  call(method: string, path: string, json?: unknown): Promise<Answer> {
    return this.service.http.send(`/v2/sandbox/${path}`, { method, bearer: this.bearer, json });
  }

  async driver(input: { name?: string; seed?: number } = {}, withConsent = true): Promise<SandboxDriver> {
    const answer = await this.call('POST', 'drivers', input);
    if (answer.status !== 201) throw new Error(`no driver: ${answer.text}`);
    const driver = answer.json as SandboxDriver;
    if (withConsent) await this.call('PUT', `drivers/${driver.id}/consent`);
    return driver;
  }

  /** Tokens of a driver, through the page on which nobody logs in. */
  async tokens(driverId: string): Promise<Tokens> {
    const pkce = newPkce();
    const location = await authorizeInSandbox(this.service, this.client, driverId, {
      code_challenge: pkce.challenge,
      code_challenge_method: 'S256',
    });
    const answer = await this.service.http.token({
      grant_type: 'authorization_code',
      client_id: this.client.id,
      client_secret: this.client.secret || undefined,
      code: location.searchParams.get('code') ?? undefined,
      redirect_uri: REDIRECT_URI,
      code_verifier: pkce.verifier,
    });
    if (answer.status !== 200) throw new Error(`no tokens: ${answer.text}`);
    return answer.json as Tokens;
  }
}

/** Authorizes as the driver; returns where the browser is sent. */
export async function authorizeInSandbox(
  service: TestService,
  { id }: TestClient,
  driver: string,
  more: Record<string, string> = {},
): Promise<URL> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: REDIRECT_URI,
    ...more,
  });
  const browser = new BrowserSession(service.url);
  const page = await browser.open(`/o/authorize/?${query.toString()}`);
  const answer = await browser.submit(page, '/o/authorize/', { driver, decision: 'authorize' });
  const location = answer.headers.get('location');
  if (!location) throw new Error(`no redirect: ${answer.status} ${answer.html.text.slice(0, 300)}`);
  return new URL(location, service.url);
}

/**
 * Ends the publishing of planned events at every instance, until `onApplicationBootstrap()`: what was being published at the
 * time is over.
 */
export async function stopPlannedEvents({
  instances,
}: Pick<TestService, 'instances'>): Promise<PlannedEventsWorker[]> {
  const workers = instances.map(({ app }) => app.get(PlannedEventsWorker, { strict: false }));
  for (const worker of workers) {
    worker.beforeApplicationShutdown();
    await (worker as unknown as { underWay?: Promise<void> }).underWay;
  }
  return workers;
}

/** Publishes nothing more that the tests of a file have planned, for the files that share its service. */
export async function endSandboxes({ instances, database }: TestService): Promise<void> {
  // None publishes meanwhile, which takes the same rows out in another order.
  const workers = await stopPlannedEvents({ instances });
  await database.query('DELETE FROM sandbox_planned_events');
  for (const { app } of instances) app.get(SandboxClock, { strict: false }).aheadSeconds = 0;
  for (const worker of workers) worker.onApplicationBootstrap();
}

/** Lets this much time pass in the sandboxes of every instance. */
export function letSandboxTimePass(service: TestService, seconds: number): void {
  for (const { app } of service.instances) {
    app.get(SandboxClock, { strict: false }).aheadSeconds += seconds;
    app.get(PlannedEventsWorker, { strict: false }).wake();
  }
}
