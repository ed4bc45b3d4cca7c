import { atEndOfFile } from './between-files.js';
import type { BrokenIdentityProvider } from './broken-identity-provider.js';
import type { IdentityProvider, ProviderSettings } from './identity-provider.js';
import { MailServer } from './mail-server.js';
import { startService, type TestService, type TestServiceOptions } from './test-service.js';

type Provider = IdentityProvider | BrokenIdentityProvider;

/** What runs next to the service, started before it and stopped after it. */
interface Beside {
  smtp?: MailServer;
  idp?: Provider;
  /** The settings under which the service knows it. */
  providers?: ProviderSettings[];
}

/** A service of the file alone, from `beforeAll` on. */
function useServiceBeside(
  { smtp, idp, providers = [{}] }: Beside,
  options: TestServiceOptions = {},
): TestService {
  const service = {} as TestService;
  beforeAll(async () => {
    await smtp?.listen();
    atEndOfFile(async () => smtp?.stop());
    await idp?.listen();
    atEndOfFile(async () => idp?.close());
    const env = { ...smtp?.env, ...idp?.env(...providers), ...options.env };
    Object.assign(service, await startService({ ...options, env }));
    const ids = providers.map(({ id = 'company' }) => id);
    if (idp && 'serveTo' in idp) idp.serveTo(service.url, ids);
  });
  return service;
}

interface WithMail {
  service: TestService;
  smtp: MailServer;
}

/** A service of the file alone with a server that takes its mails. */
export const useServiceWithMail = (
  options?: TestServiceOptions,
  smtp: MailServer = new MailServer(),
): WithMail => ({ smtp, service: useServiceBeside({ smtp }, options) });

/** A service of the file alone with this identity provider, which it knows under these settings. */
export const useServiceWithProvider = (
  idp: Provider,
  providers?: ProviderSettings[],
  options?: TestServiceOptions,
): TestService => useServiceBeside({ idp, providers }, options);

/** The same with a server that takes its mails. */
export function useServiceWithMailAndProvider(
  idp: Provider,
  providers?: ProviderSettings[],
  options?: TestServiceOptions,
): WithMail {
  const smtp = new MailServer();
  return { smtp, service: useServiceBeside({ smtp, idp, providers }, options) };
}
