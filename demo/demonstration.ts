import type { Settings } from '../src/config/settings.js';
import type { Demonstration } from '../src/start/demonstration.js';
import { demoBanner } from './demo-banner.js';
import { loadDemoCredentials } from './demo-credentials.js';
import { seedDemonstration } from './demo-data.js';
import { DemoModule } from './demo.module.js';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';

/** Starts the embedded PostgreSQL and reads or creates the credentials; throws an Error that says why that failed. */
export async function startDemonstration(
  settings: Settings,
  say: (line: string) => void,
): Promise<Demonstration> {
  const postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, say });
  try {
    const credentials = await loadDemoCredentials(settings.dataDir);
    return {
      databaseUrl: postgres.url,
      module: DemoModule,
      seed: (dataSource) => seedDemonstration(dataSource, credentials, settings),
      banner: () => demoBanner(settings, credentials),
      stop: () => postgres.stop(),
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}
