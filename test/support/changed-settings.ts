import { Settings } from '#platform/config/settings.js';
import type { TestService } from './test-service.js';

/** Lets the instances of a service have other settings during this work, of those that they read at each request. */
export async function withSettings<T>(
  { instances }: Pick<TestService, 'instances'>,
  changes: Partial<Settings>,
  work: () => Promise<T>,
): Promise<T> {
  const all = instances.map(({ app }) => app.get(Settings));
  const before = all.map((settings) => ({ ...settings }));
  for (const settings of all) Object.assign(settings, changes);
  try {
    return await work();
  } finally {
    all.forEach((settings, n) => Object.assign(settings, before[n]));
  }
}
