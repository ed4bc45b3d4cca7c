import { endWorker } from '../../dist/test/support/between-files.js';

export default async function globalTeardown() {
  // Tests that ran in this process, as a single file does; the workers have ended.
  await endWorker();
  await globalThis.endTestPostgres?.();
}
