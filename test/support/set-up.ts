import { atEndOfFile } from './between-files.js';
import type { BrokenIdentityProvider } from './broken-identity-provider.js';
import type { IdentityProvider, ProviderSettings } from './identity-provider.js';
import { MailServer } from './mail-server.js';
import { startService, type TestService, type TestServiceOptions } from './test-service.js';

/** A service of the file alone with a server that takes its mails, from `beforeAll` on. */
export function useServiceWithMail(options: TestServiceOptions = {}): {
  service: TestService;
  smtp: MailServer;
} {
  const smtp = new MailServer();
  const service = {} as TestService;
  beforeAll(async () => {
    await smtp.listen();
    atEndOfFile(() => smtp.stop());
    Object.assign(service, await startService({ ...options, env: { ...smtp.env, ...options.env } }));
  });
  return { service, smtp };
}

/** A service of the file alone with this identity provider, which it knows under these settings, from `beforeAll` on. */
export function useServiceWithProvider(
  idp: IdentityProvider | BrokenIdentityProvider,
  providers: ProviderSettings[] = [{}],
  options: TestServiceOptions = {},
): TestService {
  const service = {} as TestService;
  beforeAll(async () => {
    await idp.listen();
    atEndOfFile(() => idp.close());
    const env = { ...idp.env(...providers), ...options.env };
    Object.assign(service, await startService({ ...options, env }));
    const ids = providers.map(({ id = 'company' }) => id);
    if ('serveTo' in idp) idp.serveTo(service.url, ids);
  });
  return service;
}
