import { atEndOfFile, atEndOfWorker } from './between-files.js';
import type { BrokenIdentityProvider } from './broken-identity-provider.js';
import type { IdentityProvider, ProviderSettings } from './identity-provider.js';
import { MailServer } from './mail-server.js';
import {
  PATIENT,
  sharedService,
  startService,
  type TestService,
  type TestServiceOptions,
} from './test-service.js';
import { WEBHOOK_ENV } from './webhooks.js';

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

const sharedSmtp = new MailServer();
let listening: Promise<void> | undefined;
atEndOfWorker(async () => {
  listening = undefined;
  await sharedSmtp.stop();
});

/**
 * A service that files share, as by `useSharedService`, with a server that takes its mails, sign-up, endpoints on this machine, and addresses that a test chooses.
 * A file makes its own addresses, and neither counts all mails nor lets the server refuse any.
 */
export function useSharedServiceWithMail(): WithMail {
  const service = {} as TestService;
  beforeAll(async () => {
    await (listening ??= sharedSmtp.listen());
    atEndOfFile(() => void (sharedSmtp.mails.length = 0));
    const env = { ...sharedSmtp.env, ...WEBHOOK_ENV, SIGN_UP: 'true', TRUSTED_PROXIES: '127.0.0.1' };
    Object.assign(service, await sharedService({ env, databaseOptions: PATIENT }));
  });
  return { service, smtp: sharedSmtp };
}

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
