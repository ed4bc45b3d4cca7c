import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Logger } from 'pino';
import { createApp } from '../app.setup.js';
import { loadSettings, type Settings } from '../config/settings.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { migrate } from '../database/migrate.js';
import { logOutput } from '../http/log-output.js';
import { createLog } from '../http/logging.js';
import { bootstrapOperator } from './bootstrap-operator.js';
import { demoBanner } from './demo-banner.js';
import { loadDemoCredentials, type DemoCredentials } from './demo-credentials.js';
import { seedDemonstration } from './demo-data.js';
import { stopOnSignals } from './stop-on-signals.js';

// Contract §14: what takes longer than this is given up.
const CUT_OFF_MS = 8_000;

const PRIVATE_ADDRESSES_WARNING =
  'WEBHOOK_ALLOW_PRIVATE_ADDRESSES is true: whoever may add a webhook endpoint can reach what this machine can reach.';

/** Starts the service: settings, database, migrations, first data, and last of all the port. Throws a SettingsError for a bad setting. */
export async function startService(environment: NodeJS.ProcessEnv): Promise<void> {
  const settings = await loadSettings(environment);
  const log = createLog(settings.logLevel, logOutput());
  // The demonstration speaks to a person. Elsewhere every line is one of the log; these are said whatever its level.
  const spoken = log.child({}, { level: 'info' });
  const say = (line: string) =>
    settings.demonstration ? void process.stdout.write(`${line}\n`) : spoken.info(line);
  let postgres: EmbeddedPostgres | undefined;
  let demo: DemoCredentials | undefined;
  let app: NestFastifyApplication | undefined;
  // From the beginning: the first process of a container is deaf to a signal that it does not listen to. A start that is
  // under way has nothing to finish.
  stopOnSignals(async () => {
    // Who has not finished by then is cut off, so that the rest can end in order.
    setTimeout(() => app?.getHttpServer().closeAllConnections(), CUT_OFF_MS).unref();
    await app?.close();
    await postgres?.stop();
  });
  if (settings.demonstration) {
    postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, say });
    settings.databaseUrl = postgres.url;
    demo = await loadDemoCredentials(settings.dataDir);
  }
  if (settings.webhookAllowPrivateAddresses) {
    if (settings.demonstration) say(`Warning: ${PRIVATE_ADDRESSES_WARNING}`);
    else log.warn(PRIVATE_ADDRESSES_WARNING);
  }
  try {
    app = await startApplication(settings, log, demo, say);
    if (demo) say(demoBanner(settings, demo));
    else say(`Charging Data Service: listening on ${settings.host}:${settings.port} for ${settings.baseUrl}`);
  } catch (error) {
    await postgres?.stop();
    throw error;
  }
}

async function startApplication(
  settings: Settings,
  log: Logger,
  demo: DemoCredentials | undefined,
  say: (line: string) => void,
) {
  const slow = setTimeout(() => say('Bringing the database up to date …'), 1000);
  await migrate(settings.databaseUrl!, async (dataSource) => {
    if (settings.bootstrapOperator) await bootstrapOperator(dataSource, settings.bootstrapOperator);
    if (demo) await seedDemonstration(dataSource, demo, settings);
  }).finally(() => clearTimeout(slow));
  const app = await createApp(settings, log);
  try {
    await app.listen(settings.port, settings.host);
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}
