import { rm } from 'node:fs/promises';
import { endWorker } from '../../dist/test/support/between-files.js';

export default async function globalTeardown() {
  // Tests that ran in this process, as a single file does; the workers have ended.
  await endWorker();
  if (!globalThis.testPostgres) return;
  const { postgres, dataDir } = globalThis.testPostgres;
  await postgres.stop();
  await rm(dataDir, { recursive: true, force: true });
}
