import type { FastifyInstance } from 'fastify';
import type { Settings } from '#platform/config/settings.js';
import type { Demonstration } from '#start/demonstration.js';
import { demoBanner } from './demo-banner.js';
import { loadDemoCredentials, type DemoCredentials } from './demo-credentials.js';
import { seedDemonstration } from './demo-data.js';
import { DemoProgram } from './demo-program.js';
import { addDemoReceiver, receiverUrl } from './demo-receiver.routes.js';
import { demoModule } from './demo.module.js';
import { startEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { demoProviderSettings, makeDemoIdentityProvider } from './identity/demo-identity-provider.js';
import { addDemoIdentity } from './identity/demo-identity.routes.js';

/** Starts the embedded PostgreSQL and reads or creates the credentials; throws an Error that says why that failed. */
export async function startDemonstration(
  settings: Settings,
  say: (line: string) => void,
): Promise<Demonstration> {
  const postgres = await startEmbeddedPostgres({ dataDir: settings.dataDir, say });
  try {
    const credentials = await loadDemoCredentials(settings.dataDir);
    const addIdentity = await identityOf(settings, credentials);
    settings.ownReceiver = receiverUrl(settings);
    const program = new DemoProgram(settings, credentials.sandboxClient);
    return {
      databaseUrl: postgres.url,
      module: demoModule(credentials, (fastify) => {
        addIdentity(fastify);
        addDemoReceiver(fastify, credentials.sandboxEndpoint.secret, () => program.onEvent());
      }),
      seed: async (dataSource) => {
        for (const email of await seedDemonstration(dataSource, credentials, settings))
          say(`Warning: someone else has the address ${email}: what is printed for it does not work.`);
      },
      banner: () => demoBanner(settings, credentials),
      stop: () => postgres.stop(),
    };
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

/** Adds an identity provider of its own to the settings, unless they name others; returns what mounts it. */
async function identityOf(
  settings: Settings,
  { driver, operator }: DemoCredentials,
): Promise<(fastify: FastifyInstance) => void> {
  if (settings.identityProviders.length > 0) return () => undefined;
  const own = demoProviderSettings(settings.baseUrl);
  const people = [driver, operator];
  const provider = await makeDemoIdentityProvider(own, people, settings);
  settings.identityProviders.push(own);
  return (fastify) => addDemoIdentity(fastify, provider, people);
}
