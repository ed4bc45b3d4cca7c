import { SettingsError } from './config/environment.js';
import { startService } from './start/start-service.js';

startService(process.env).catch((error: unknown) => {
  const text =
    error instanceof SettingsError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
});
