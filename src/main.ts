import { exitOnSignals } from '#start/stop-on-signals.js';

exitOnSignals();
// Everything else is loaded after that, which takes a second or more.
const { startService } = await import('#start/start-service.js');

startService(process.env).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`, () => process.exit(1));
});
