import { createRequire } from 'node:module';

// Relative to the sources, and to the build.
const PLACES = ['../../package.json', '../../../package.json'];

/** The version in package.json. */
export function buildVersion(): string {
  const require = createRequire(import.meta.url);
  for (const place of PLACES) {
    try {
      return (require(place) as { version: string }).version;
    } catch {
      // It is in the other place.
    }
  }
  return 'unknown';
}
