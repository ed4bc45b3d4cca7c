import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '#platform/config/package-root.js';

/** The version in package.json. */
export function buildVersion(): string {
  const text = readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
