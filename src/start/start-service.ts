import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { SETTING_NAMES, SettingsError } from '#platform/config/process-environment.js';
import { misspeltSettings } from '#platform/config/misspelt-settings.js';
import { loadSettings, type Settings } from '#platform/config/settings.js';
import { logOutput } from '#platform/http/server/log-output.js';
import { createLog } from '#platform/http/server/logging.js';
import type { Demonstration } from './demonstration.js';
import { settleClasses } from './settle-classes.js';
import { startFailure } from './start-error.js';
import { stopOnSignals } from './stop-on-signals.js';
import { waitForDatabase } from './wait-for-database.js';
import { createServer, type Server } from 'node:http';
import { BARE_HEADERS } from '#platform/http/problems/client-error.js';
import { serviceUnavailable } from '#platform/http/problems/problem.js';
import { renderProblem } from '#platform/http/problems/render-problem.js';
import { newUlid } from '#platform/secrets/ids.js';

const RETRY_AFTER_SECONDS = '2';

/** Listens on the port until the service can: reports that the process is alive but not ready, and nothing else. */
class WaitingServer {
  private constructor(private readonly server: Server) {}

  /** Rejects if the port is not available. */
  static async open({ port, host, baseUrl }: Settings): Promise<WaitingServer> {
    const starting = renderProblem(
      serviceUnavailable('The service is starting. Please try again shortly.'),
      baseUrl,
    );
    const server = createServer((request, response) => {
      const isLive = request.url?.split('?', 1)[0] === '/health/live';
      response
        .writeHead(isLive ? 200 : 503, {
          ...BARE_HEADERS,
          ...(isLive
            ? { 'content-type': 'application/json; charset=utf-8' }
            : { ...starting.headers, 'retry-after': RETRY_AFTER_SECONDS }),
          'x-request-id': newUlid(),
          connection: 'close',
        })
        .end(isLive ? '{"status":"ok"}' : starting.body);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
    return new WaitingServer(server);
  }

  /** Releases the port. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

// Contract §14: requests that take longer are aborted.
const CUT_OFF_MS = 8_000;

const PRIVATE_ADDRESSES_WARNING =
  'WEBHOOK_ALLOW_PRIVATE_ADDRESSES is true: anyone who can add a webhook endpoint can reach everything that this machine can reach.';

const NO_MAIL =
  'SMTP_URL and MAIL_FROM are not set: no mail is sent, and what needs mail is not offered (forgotten passwords, for example).';

const ODD_SECRET_WARNING =
  'BOOTSTRAP_OPERATOR_CLIENT_SECRET contains "+" or "%": with HTTP Basic, clients have to send these percent-encoded (RFC 6749 §2.3.1), and many do not and get a 401. Use letters, digits, "-" and "_".';

const METRICS_WARNING =
  'METRICS_TOKEN is not set: anyone who can reach GET /metrics of this instance can read the metrics.';

/**
 * Starts the service: settings, database, migrations, first data, and finally the port. A failure is logged in one line and ends the
 * process with 1; only one of the demonstration is thrown.
 */
export async function startService(environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    await startWith(await loadSettings(environment), environment);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    // At any level: it may be LOG_LEVEL that is wrong.
    createLog('fatal', logOutput()).fatal(startFailure(error).message);
    process.exitCode = 1;
  }
}

async function startWith(settings: Settings, environment: NodeJS.ProcessEnv): Promise<void> {
  settleClasses();
  const log = createLog(settings.logLevel, logOutput());
  // The demonstration prints for a person. Otherwise everything is a log line; these are logged at any level.
  const spoken = log.child({}, { level: 'info' });
  const say = (line: string) =>
    settings.demonstration ? void process.stdout.write(`${line}\n`) : spoken.info(line);
  const warn = (line: string) => (settings.demonstration ? say(`Warning: ${line}`) : log.warn(line));
  let demo: Demonstration | undefined;
  let app: NestFastifyApplication | undefined;
  // A start in progress has nothing to finish.
  stopOnSignals(async (signal) => {
    if (!settings.demonstration)
      spoken.info(`Stopping (${signal}): finishing requests in progress, accepting no new ones`);
    // Requests that have not finished by then are cut off, so that the shutdown can complete.
    setTimeout(() => app?.getHttpServer().closeAllConnections(), CUT_OFF_MS).unref();
    await app?.close();
    await demo?.stop();
    if (!settings.demonstration) spoken.info('Stopped');
  });
  if (settings.demonstration) {
    // It goes on when whoever read its lines has left.
    process.stdout.on('error', () => undefined);
    const { startDemonstration } = await import('../../demo/demonstration.js');
    demo = await startDemonstration(settings, say);
    settings.databaseUrl = demo.databaseUrl;
  }
  if (settings.production && settings.metricsToken === undefined) log.warn(METRICS_WARNING);
  if (!settings.sendsMail) say(NO_MAIL);
  for (const line of misspeltSettings(environment, SETTING_NAMES)) warn(line);
  if (/[+%]/.test(settings.bootstrapOperator?.client?.secret ?? '')) warn(ODD_SECRET_WARNING);
  if (settings.webhookAllowPrivateAddresses) warn(PRIVATE_ADDRESSES_WARNING);
  try {
    app = await startApplication(settings, log, demo, say);
    if (demo) say(demo.banner());
    else
      say(`${settings.brand.name}: listening on ${settings.host}:${settings.port} for ${settings.baseUrl}`);
  } catch (error) {
    await demo?.stop();
    if (settings.demonstration) throw error;
    const { message, err } = startFailure(error);
    spoken.fatal(err ? { err } : {}, message);
    // What has begun, such as schedules and connections, would keep the process alive without a port.
    process.exit(1);
  }
}

async function startApplication(
  settings: Settings,
  log: Logger,
  demo: Demonstration | undefined,
  say: (line: string) => void,
) {
  // Supervisors see that the process is alive, however long the database and the migrations take.
  const waiting = demo ? undefined : await WaitingServer.open(settings);
  let app: NestFastifyApplication;
  try {
    if (!demo) await waitForDatabase(settings.databaseUrl!, settings.databaseWait, say);
    // Loaded now: a start that fails before it says so a second earlier.
    const { prepareDatabase } = await import('./prepare-database.js');
    const { createApp } = await import('./app.setup.js');
    await prepareDatabase(settings, log, demo, say);
    app = await createApp(settings, log, demo && [demo.module]);
  } finally {
    await waiting?.close();
  }
  try {
    await app.listen(settings.port, settings.host);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}
