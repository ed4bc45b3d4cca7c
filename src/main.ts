import { exitOnSignals } from './start/stop-on-signals.js';

exitOnSignals();
// Everything else is loaded after that, which takes a second or more.
const { startService } = await import('./start/start-service.js');
const { SettingsError } = await import('./config/environment.js');

startService(process.env).catch((error: unknown) => {
  const text =
    error instanceof SettingsError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
