import { SettingsError } from '#platform/config/process-environment.js';
import { loadSettings } from '#platform/config/settings.js';

/** The message that prevents the start. */
export async function refusalOf(environment: Record<string, string | undefined>): Promise<string> {
  const error: unknown = await loadSettings(environment).then(
    () => new Error('these settings were accepted'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SettingsError);
  return (error as Error).message;
}
